import type { Candles } from '../candles.ts';

/** Sums of {@link EdgeSums}, in the order in which a candle adds to them. */
const ROWS = 0;
const TAU = 1;
const PO = 2;
const PC = 3;
const R1 = 4;
const R3 = 5;
const R5 = 6;
const TR2 = 7;
const TR4 = 8;
const TR5 = 9;
const R1R2 = 10;
const R3R4 = 11;
const R1R5 = 12;
const R4R5 = 13;
const R11R22 = 14;
const R33R44 = 15;
const R11R55 = 16;
const R44R55 = 17;
const R1R2R3R4 = 18;
const R1R4R55 = 19;
const TR22 = 20;
const TR44 = 21;
const TR55 = 22;
const TR1R22 = 23;
const TR3R44 = 24;
const TR1R55 = 25;
const TR5R44 = 26;
const TR1R2R4 = 27;
const TR2R3R4 = 28;
const TR2R4 = 29;
const TR1R4R5 = 30;
const TR4R55 = 31;
const TR4R5 = 32;
const LENGTH = 33;

/**
 * The EDGE estimator of the bid-ask spread from open, high, low and close prices (Ardia, Guidotti and Kroencke, J. of Financial
 * Economics 161, 2024). Its moments are kept as sums over candles, so that windows are sums of days.
 */
export class EdgeSums {
  readonly #sums = new Float64Array(LENGTH);

  /** Adds the candles of the rows [from, to), each with the one before it; `from` is at least 1. */
  addRows({ open, high, low, close }: Candles, from: number, to: number): void {
    const s = this.#sums;
    let h1 = Math.log(high[from - 1]!);
    let l1 = Math.log(low[from - 1]!);
    let c1 = Math.log(close[from - 1]!);
    for (let row = from; row < to; row++) {
      const o = Math.log(open[row]!);
      const h = Math.log(high[row]!);
      const l = Math.log(low[row]!);
      const m = (h + l) / 2;
      const m1 = (h1 + l1) / 2;
      const r1 = m - o;
      const r2 = o - m1;
      const r3 = m - c1;
      const r4 = c1 - m1;
      const r5 = o - c1;
      s[ROWS]!++;
      s[R1]! += r1;
      s[R3]! += r3;
      s[R5]! += r5;
      s[R1R2]! += r1 * r2;
      s[R3R4]! += r3 * r4;
      s[R1R5]! += r1 * r5;
      s[R4R5]! += r4 * r5;
      s[R11R22]! += r1 * r1 * r2 * r2;
      s[R33R44]! += r3 * r3 * r4 * r4;
      s[R11R55]! += r1 * r1 * r5 * r5;
      s[R44R55]! += r4 * r4 * r5 * r5;
      s[R1R2R3R4]! += r1 * r2 * r3 * r4;
      s[R1R4R55]! += r1 * r4 * r5 * r5;
      // Without a move since the last close there was no trade, or all at one price: the candle says nothing of the spread.
      if (h !== l || l !== c1) {
        s[TAU]!++;
        s[PO]! += (o !== h ? 1 : 0) + (o !== l ? 1 : 0);
        s[PC]! += (c1 !== h1 ? 1 : 0) + (c1 !== l1 ? 1 : 0);
        s[TR2]! += r2;
        s[TR4]! += r4;
        s[TR5]! += r5;
        s[TR22]! += r2 * r2;
        s[TR44]! += r4 * r4;
        s[TR55]! += r5 * r5;
        s[TR1R22]! += r1 * r2 * r2;
        s[TR3R44]! += r3 * r4 * r4;
        s[TR1R55]! += r1 * r5 * r5;
        s[TR5R44]! += r5 * r4 * r4;
        s[TR1R2R4]! += r1 * r2 * r4;
        s[TR2R3R4]! += r2 * r3 * r4;
        s[TR2R4]! += r2 * r4;
        s[TR1R4R5]! += r1 * r4 * r5;
        s[TR4R55]! += r4 * r5 * r5;
        s[TR4R5]! += r4 * r5;
      }
      h1 = h;
      l1 = l;
      c1 = Math.log(close[row]!);
    }
  }

  add(other: EdgeSums): void {
    for (let index = 0; index < LENGTH; index++) this.#sums[index]! += other.#sums[index]!;
  }

  /** The squared spread; negative when the estimate is, NaN without two candles of different prices. */
  get squaredSpread(): number {
    const mean = (index: number) => this.#sums[index]! / this.#sums[ROWS]!;
    const [pt, po, pc] = [mean(TAU), mean(PO), mean(PC)];
    if (!(this.#sums[TAU]! >= 2 && po > 0 && pc > 0)) return Number.NaN;
    // d1 = r1 - tau m1 and so on; x1 = a d1 r2 + b d3 r4; x2 = a d1 r5 + b d5 r4.
    const [m1, m3, m5] = [mean(R1) / pt, mean(R3) / pt, mean(R5) / pt];
    const [a, b] = [-4 / po, -4 / pc];
    const e1 = a * (mean(R1R2) - m1 * mean(TR2)) + b * (mean(R3R4) - m3 * mean(TR4));
    const e2 = a * (mean(R1R5) - m1 * mean(TR5)) + b * (mean(R4R5) - m5 * mean(TR4));
    const v1 =
      a * a * (mean(R11R22) - 2 * m1 * mean(TR1R22) + m1 * m1 * mean(TR22)) +
      b * b * (mean(R33R44) - 2 * m3 * mean(TR3R44) + m3 * m3 * mean(TR44)) +
      2 * a * b * (mean(R1R2R3R4) - m3 * mean(TR1R2R4) - m1 * mean(TR2R3R4) + m1 * m3 * mean(TR2R4)) -
      e1 * e1;
    const v2 =
      a * a * (mean(R11R55) - 2 * m1 * mean(TR1R55) + m1 * m1 * mean(TR55)) +
      b * b * (mean(R44R55) - 2 * m5 * mean(TR5R44) + m5 * m5 * mean(TR44)) +
      2 * a * b * (mean(R1R4R55) - m5 * mean(TR1R4R5) - m1 * mean(TR4R55) + m1 * m5 * mean(TR4R5)) -
      e2 * e2;
    return (v2 * e1 + v1 * e2) / (v1 + v2);
  }

  /** Spread as a ratio of the price; negative estimates are 0. */
  get spread(): number {
    return Math.sqrt(Math.max(0, this.squaredSpread));
  }
}
