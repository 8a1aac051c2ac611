import type { SoakClient } from './client.ts';

/** Multiples of 0.125: their sums are exact in any order. Both variants get equal profits, so neither wins. */
const PROFITS = [0.5, -0.375, 0.25, -0.125, 0.125, -0.25] as const;

/** Trades of a challenge: posted until acknowledged, then compared with the platform's evaluation. */
export class Trades {
  readonly #client: SoakClient;
  readonly #challenge: string;
  readonly sums = { champion: 0, challenger: 0 };
  readonly counts = { champion: 0, challenger: 0 };
  #posted = 0;

  /** @param challenge URL of the challenge */
  constructor(client: SoakClient, challenge: string) {
    this.#client = client;
    this.#challenge = challenge;
  }

  get posted(): number {
    return this.#posted;
  }

  /** Posts trades of both variants in one request. */
  async post(pairs: number): Promise<void> {
    const trades = Array.from({ length: pairs }, () => {
      const number = this.#posted++;
      const profit_pct = PROFITS[number % PROFITS.length]!;
      return (['champion', 'challenger'] as const).map((variant) => {
        this.sums[variant] += profit_pct;
        this.counts[variant]++;
        return { trade_id: `${variant}-${number}`, variant, profit_pct };
      });
    }).flat();
    const { status, text } = await this.#client.call('POST', `${this.#challenge}/trades`, { trades });
    if (status >= 400) throw new Error(`Trades were rejected: ${status} ${text.slice(0, 300)}`);
  }

  /** Errors of the evaluation; empty when each trade counts once. */
  async check(): Promise<string[]> {
    const { body } = await this.#client.call('GET', `${this.#challenge}/evaluate`);
    return (['champion', 'challenger'] as const).flatMap((variant) => {
      const wanted = { trades: this.counts[variant], mean: this.sums[variant] / this.counts[variant] };
      const found = { trades: body[`${variant}_trades`], mean: body.raw[`${variant}_mean`] };
      const same = found.trades === wanted.trades && Math.abs(found.mean - wanted.mean) < 1e-12;
      return same ? [] : [`trades of the ${variant}: ${JSON.stringify({ wanted, found })}`];
    });
  }
}
