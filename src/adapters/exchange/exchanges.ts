import type { Exchange } from '#domain/ports.ts';
import { SimExchange } from './sim.ts';

/** Every exchange that candles can be collected from, by its key. */
export function exchanges(): ReadonlyMap<string, Exchange> {
  const all = [new SimExchange({ clock: Date })];
  return new Map(all.map((exchange) => [exchange.name, exchange]));
}
