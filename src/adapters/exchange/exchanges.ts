import { SIMULATED } from '#contract/values/names.ts';
import type { Exchange, Exchanges } from '#domain/data/exchange-ports.ts';
import { CcxtExchange, type CcxtExchangeOptions } from './ccxt.ts';
import { unknownExchange } from './ccxt-client.ts';
import { SimExchange } from './sim.ts';

/** `sim`, and every exchange that ccxt supports. Each is opened once, at its first use. */
export function openExchanges(options: CcxtExchangeOptions = {}): Exchanges {
  const opened = new Map<string, Promise<Exchange>>();
  const openOnce = (key: string) => {
    const known = opened.get(key);
    if (known) return known;
    const opening = key === SIMULATED ? Promise.resolve(new SimExchange()) : CcxtExchange.open(key, options);
    opened.set(key, opening);
    opening.catch(() => opened.delete(key));
    return opening;
  };
  return {
    open: async (key, mode = 'futures') => {
      const exchange = await openOnce(key);
      if (exchange.modes.includes(mode)) return exchange;
      const markets = mode === 'spot' ? 'spot markets' : 'perpetual futures';
      throw unknownExchange(key, `${key} does not provide candles of ${markets}`, mode);
    },
  };
}
