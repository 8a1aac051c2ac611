import { TOUCHSTONE } from '#contract/values/names.ts';
import { other } from '../file-content.ts';
import { headerIn } from '../formats/csv-table.ts';
import { tradingViewMarket } from '../market-symbols.ts';
import type { Recognizer } from '../recognizer.ts';
import { isTradeList, isTradingViewChart, tradingViewNames } from '../vendors/trading-view.ts';

/** Charts that TradingView exports as CSV. Their names have the exchange, the symbol and the interval. */
export const tradingView: Recognizer = {
  name: 'TradingView',
  async recognize(file) {
    if (!/\.csv(\.gz)?$/.test(file.name)) return undefined;
    const header = headerIn(await file.head());
    if (isTradeList(header))
      return other(`a list of trades, which is a result: use ${TOUCHSTONE} verify tradingview`);
    if (!isTradingViewChart(header)) return undefined;
    const names = tradingViewNames(file.name);
    // Any candles may have these columns.
    if (names.exchange === null) return undefined;
    const market = names.symbol ? tradingViewMarket(names.exchange, names.symbol) : {};
    return { kind: 'table', table: 'csv', format: 'CSV', names, mayEndOpen: true, ...market };
  },
};
