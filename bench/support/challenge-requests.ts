import { DynamoChallengeStore } from '#adapters/aws/dynamo-challenge-store.ts';
import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import type { TradeInput } from '#contract/challenge-trade.ts';
import type { StoredChallenge } from '#contract/stored-challenge.ts';
import type { PlatformInfo } from '../../src/local/platform-info.ts';
import { time } from './measure.ts';
import { RegistryClient } from './registry-client.ts';

/** As src/local/platform.ts names it. */
export const REGISTRY_TABLE = 'Registry';

/** A challenge whose log was filled. */
export interface FilledChallenge {
  readonly model: string;
  readonly id: string;
  /** Trades that were logged before anything was measured. */
  readonly filled: number;
}

/** The id of an active challenge of two versions of a model, in its first stage, without trades. */
export async function createChallenge(client: RegistryClient, model: string): Promise<string> {
  const runId = await client.backtest(model);
  for (const version of ['1', '2']) {
    const registration = { backtest_run_id: runId, container_image_uri: 'touchstone:1' };
    await client.post(`strategies/${model}/register`, registration, 'strategy');
    await client.post(`strategies/${model}/stage`, { version, skip_validation: true });
  }
  await client.post(`strategies/${model}/promote`, { version: '1' });
  const versions = { champion_version: '1', challenger_version: '2' };
  const path = `models/${model}/challenges`;
  const { challenge_id } = await client.post<{ challenge_id: string }>(path, versions, 'strategy');
  return challenge_id;
}

/** What becomes the challenger's of 100 trades: so that the champion has a little more than twice as many, or as many. */
export const UNBALANCED = 33;
const BALANCED = 50;

/** A trade of that number: of the variant that keeps the challenger's share, profits in quarters, whose sums are exact. */
export function benchTrade(index: number, challengerPct: number): TradeInput {
  const isChallenger =
    Math.floor(((index + 1) * challengerPct) / 100) > Math.floor((index * challengerPct) / 100);
  return {
    trade_id: `trade-${index}`,
    variant: isChallenger ? 'challenger' : 'champion',
    profit_pct: (((index * 37) % 23) - 9) / 4,
    profit_abs: 1.25,
    stake_amount: 100,
    fee_abs: 0.125,
    leverage: 2,
    pair: 'BTC/USDT:USDT',
    side: 'long',
    exit_reason: 'roi',
    exchange: 'binance',
    mode: 'live',
  };
}

/** The requests that are measured, on one challenge. Each is another trade or key than the one before. */
export class ChallengeRequests {
  readonly challenge: FilledChallenge;
  readonly #client: RegistryClient;
  readonly #store: DynamoChallengeStore;
  #next: number;
  #keys = 0;
  challengerPct = UNBALANCED;

  constructor(platform: PlatformInfo, challenge: FilledChallenge) {
    this.challenge = challenge;
    this.#client = new RegistryClient(platform);
    const client = createDocumentClient({ endpoint: platform.storage.DYNAMODB_ENDPOINT });
    this.#store = new DynamoChallengeStore(client, REGISTRY_TABLE);
    this.#next = challenge.filled;
  }

  trade(): Promise<unknown> {
    return this.#post('trades', this.#trade());
  }

  keyedTrade(): Promise<unknown> {
    return this.#post('trades', { ...this.#trade(), assignment_key: `key-${this.#keys++}` });
  }

  batch(): Promise<unknown> {
    return this.#post('trades', { trades: Array.from({ length: 100 }, () => this.#trade()) });
  }

  assignment(): Promise<unknown> {
    return this.#post('assignments', { assignment_key: `key-${this.#keys++}` });
  }

  evaluate(): Promise<unknown> {
    return this.#client.get(`challenges/${this.challenge.id}/evaluate`, 'strategy');
  }

  route(): Promise<unknown> {
    return this.#client.get(`models/${this.challenge.model}/route?key=key-${this.#keys++}`, 'strategy');
  }

  /** Trades of the challenger alone, until neither variant has more than twice the trades of the other. */
  async balance(): Promise<void> {
    this.challengerPct = 100;
    for (let logged = 0; logged <= 0.01 * this.#next; logged += 100) await this.batch();
    this.challengerPct = BALANCED;
  }

  /** Milliseconds of a trade that brings the planned look, which was there before and is taken back first. */
  async timeLook(): Promise<number> {
    const before = await this.stored();
    const after = { ...before, planned_look: null, revision: before.revision + 1 };
    await this.#store.commit({ before, after, events: [] });
    const ms = await time(() => this.trade());
    if (!(await this.stored()).planned_look) throw new Error('The trade brought no planned look');
    return ms;
  }

  async stored(): Promise<StoredChallenge> {
    return (await this.#store.read(this.challenge.id))!;
  }

  /**
   * Throws unless the filled log is one that the platform goes on with: a trade of it is known, the next one gets the next
   * number and adds to the sums.
   */
  async checkLog(): Promise<void> {
    const { filled } = this.challenge;
    const before = await this.stored();
    const again = [benchTrade(0, UNBALANCED), benchTrade(filled - 1, UNBALANCED)];
    const { items } = (await this.#post('trades', { trades: again })) as { items: { duplicate: boolean }[] };
    const trade = benchTrade(this.#next, this.challengerPct);
    await this.trade();
    const after = await this.stored();
    const { items: last } = await this.#store.trades(this.challenge.id, 1, null);
    const seen = [items.map(({ duplicate }) => duplicate), after.trades, profitOf(after), last[0]?.sequence];
    const due = [[true, true], filled + 1, profitOf(before) + trade.profit_pct!, filled + 1];
    if (JSON.stringify(seen) !== JSON.stringify(due))
      throw new Error(`The log goes on with ${seen}, not ${due}`);
  }

  #trade(): TradeInput {
    return benchTrade(this.#next++, this.challengerPct);
  }

  #post(action: string, body: unknown): Promise<unknown> {
    return this.#client.post(`challenges/${this.challenge.id}/${action}`, body, 'strategy');
  }
}

function profitOf({ stages }: StoredChallenge): number {
  const sums = stages.flatMap(({ champion, challenger }) => [champion.sum, challenger.sum].flat());
  return sums.reduce((all, sum) => all + sum, 0);
}
