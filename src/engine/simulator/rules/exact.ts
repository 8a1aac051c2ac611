/** Decimals of freqtrade's quotients: it cuts further ones. */
export const QUOTIENT_DECIMALS = 18;

/**
 * A decimal number without rounding. freqtrade keeps amount, cost and average price of an adjusted position in such numbers
 * (docs/simulation.md#numbers). It takes a microsecond per operation: the sums of a position use it, candles do not.
 */
export class Exact {
  readonly #units: bigint;
  readonly #decimals: number;

  private constructor(units: bigint, decimals: number) {
    this.#units = units;
    this.#decimals = decimals;
  }

  /** The shortest decimal form of a double. */
  static of(value: number): Exact {
    const [digits, exponent = '0'] = String(value).split('e') as [string, string?];
    const [whole, fraction = ''] = digits.split('.') as [string, string?];
    const decimals = fraction.length - Number(exponent);
    const units = BigInt(whole + fraction);
    return decimals < 0 ? new Exact(units * power(-decimals), 0) : new Exact(units, decimals);
  }

  plus(other: Exact): Exact {
    const decimals = Math.max(this.#decimals, other.#decimals);
    return new Exact(this.#at(decimals) + other.#at(decimals), decimals);
  }

  minus(other: Exact): Exact {
    const decimals = Math.max(this.#decimals, other.#decimals);
    return new Exact(this.#at(decimals) - other.#at(decimals), decimals);
  }

  times(other: Exact): Exact {
    return new Exact(this.#units * other.#units, this.#decimals + other.#decimals);
  }

  /** The quotient, cut to `decimals` decimals. */
  over(other: Exact, decimals: number): Exact {
    const distance = decimals - this.#decimals + other.#decimals;
    const dividend = distance < 0 ? this.#units / power(-distance) : this.#units * power(distance);
    return new Exact(dividend / other.#units, decimals);
  }

  /** The nearest double. */
  toNumber(): number {
    return Number(`${this.#units}e-${this.#decimals}`);
  }

  #at(decimals: number): bigint {
    return this.#units * power(decimals - this.#decimals);
  }
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}
