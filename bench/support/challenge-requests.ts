import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import type { TradeInput } from '#contract/registry/challenge-trade.ts';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import type { PlatformInfo } from '../../src/local/platform-info.ts';
import { time } from './measure.ts';
import { RegistryClient } from './registry-client.ts';

/** Table name of src/local/platform.ts. */
export const REGISTRY_TABLE = 'Registry';

/** A challenge with a filled trade log. */
export interface FilledChallenge {
  readonly model: string;
  readonly id: string;
  /** Number of trades logged before the measurement. */
  readonly filled: number;
}

/** Creates a challenge of two versions of a model, in its first stage, without trades. Returns its ID. */
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

/** Percentage of trades of the challenger for which the champion has slightly more than twice as many. */
export const UNBALANCED = 33;
/** Percentage of trades of the challenger for which both variants have the same number. */
const BALANCED = 50;

/** Trade number `index`. Its variant keeps the challenger's percentage. Profits are multiples of 0.25, so sums are exact. */
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

/** Measured requests on one challenge. Each uses a new trade or key. */
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

  /** Logs only challenger trades until neither variant has more than twice the trades of the other. */
  async balance(): Promise<void> {
    this.challengerPct = 100;
    for (let logged = 0; logged <= 0.01 * this.#next; logged += 100) await this.batch();
    this.challengerPct = BALANCED;
  }

  /** Duration of the trade that triggers the planned look, ms. Removes an earlier planned look first. */
  async timeLook(): Promise<number> {
    const before = await this.stored();
    const after = { ...before, planned_look: null, revision: before.revision + 1 };
    await this.#store.commit({ before, after, events: [] });
    const ms = await time(() => this.trade());
    if (!(await this.stored()).planned_look)
      throw new Error(`The trade on challenge ${before.challenge_id} did not trigger the planned look`);
    return ms;
  }

  async stored(): Promise<StoredChallenge> {
    return (await this.#store.read(this.challenge.id))!;
  }

  /**
   * Checks that the platform accepts the filled log. A trade of the log must be a duplicate. A new trade must have the next
   * number and be added to the sums.
   *
   * @throws Error when the platform does not continue the log
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
      throw new Error(`The trade log continues with ${seen} instead of ${due}`);
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
