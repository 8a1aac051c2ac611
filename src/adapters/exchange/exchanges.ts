import type { Exchange, Exchanges } from '#domain/exchange-ports.ts';
import { CcxtExchange, type CcxtExchangeOptions } from './ccxt.ts';
import { SimExchange } from './sim.ts';

/** `sim`, and every exchange with perpetual futures that ccxt supports. Each is opened once, at its first use. */
export function openExchanges(options: CcxtExchangeOptions = {}): Exchanges {
  const opened = new Map<string, Promise<Exchange>>();
  return {
    open: (key) => {
      const known = opened.get(key);
      if (known) return known;
      const opening = key === 'sim' ? Promise.resolve(new SimExchange()) : CcxtExchange.open(key, options);
      opened.set(key, opening);
      opening.catch(() => opened.delete(key));
      return opening;
    },
  };
}
