/** What a column of a candle file may hold. `clock` is the time of day next to a column of dates. */
export const ROLES = [
  'time',
  'clock',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'symbol',
  'timeframe',
  'exchange',
] as const;
export type Role = (typeof ROLES)[number];

/** Letters and digits of a column's name in lower case, without accents and the numbering of Alpha Vantage (`1. open`). */
export function plainName(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/^\s*\d+\.\s/, '')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const plain = (text: string): readonly string[] => text.split(' ').map(plainName);

/** Times at which candles open. */
export const OPEN_TIMES = plain(
  'open_time kline_open_time time_open open_timestamp start_time start starttime start_at start_timestamp window_start period_start time_period_start bar_start candle_start candle_begin_time begin begin_time ts_event',
);

/** Times of candles, by names that leave open which one; English names first, then those of other languages. */
export const TIMES = plain(
  'timestamp timestamp_ms datetime date time ts t unix unix_time unix_timestamp epoch mts gmt_time local_time time_utc date_utc datetime_utc timestamp_utc dt dtyyyymmdd day trade_date trading_date bar_time candle_time time_key zeit datum zeitpunkt fecha data date_heure tarih дата 日期 交易日期 时间 日付 日付け 日時 날짜 일자 dato tanggal dátum ngày วันที่ התאריך תאריך ημερομηνία التاريخ päivämäärä',
);

/** Index of a data frame, which is a time if it holds times. */
export const INDEX_NAMES = plain('index unnamed_0 __index_level_0__ level_0 level_1');

/** Time of day, next to a date. */
export const CLOCKS = plain('time hora heure ora uhrzeit zeit godzina czas время 时间 時刻 시간 saat');

/** Names of prices and of texts that name a series. The first that a file has is taken. */
export const NAMES: Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'symbol' | 'timeframe' | 'exchange', readonly string[]>
> = {
  open: plain(
    'open o open_price price_open eröffnung eröffn eröffnungskurs erster apertura ouverture ouv abertura otwarcie açılış открытие откр 开盘 开盘价 開盤 始値 시가 öppning åbning åbningskurs avaus otevření nyitás mở άνοιγμα pembukaan פתיחה الفتح เปิด',
  ),
  high: plain(
    'high h high_price price_high max hoch tageshoch höchst höchstkurs máximo máx plus_haut haut massimo máxima hoog najwyższy najwyzszy yüksek максимум макс 最高 最高价 高 高値 고가 högst høj ylin nejvyšší cao υψηλό tertinggi גבוה الأعلى สูงสุด',
  ),
  low: plain(
    'low l low_price price_low min tief tagestief tiefst tiefstkurs mínimo mín plus_bas bas minimo mínima laag najniższy najnizszy düşük минимум мин 最低 最低价 低 安値 저가 lägst lav alin nejnižší thấp χαμηλό terendah נמוך الأدنى ต่ำสุด',
  ),
  close: plain(
    'close c close_price price_close close/last schluss schlusskurs cierre clôture chiusura fechamento zamknięcie zamkniecie slot kapanış закрытие закр 收盘 收盘价 収盤 終値 종가 stängning luk zuletzt último ultimo dernier laatste ostatnio şimdi цена senast last price',
  ),
  symbol: plain('symbol pair ticker instrument instrument_name inst_id instid product_id market tic'),
  timeframe: plain('timeframe interval tf resolution per'),
  exchange: plain('exchange'),
};

/** What a volume counts. */
export type VolumeKind = 'base' | 'quote' | 'contracts' | 'ticks';

/** Volumes by what they count. `volume BTC` and OKX's `vol_ccy` need more than the name. */
export const VOLUMES: Readonly<Record<VolumeKind, readonly string[]>> = {
  base: plain(
    'volume vol v base_volume volume_base vol_base base_asset_volume volume_base_asset home_notional traded_volume volume_traded quantity qty volumen volumes wolumen hacim объем объём 成交量 交易量 出来高 거래량 volym volumi objem stück stücke khối_lượng ปริมาณ',
  ),
  quote: plain(
    'quote_volume volume_quote vol_quote quote_asset_volume volccyquote turnover amount value volume_currency foreign_notional money umsatz 成交额 成交金额 売買代金 거래대금',
  ),
  contracts: plain('contracts volume_contracts contract_volume number_of_contracts'),
  ticks: plain('tickvol tick_volume'),
};

const KNOWN: ReadonlySet<string> = new Set([
  '',
  'volccy',
  'realvolume',
  ...OPEN_TIMES,
  ...TIMES,
  ...INDEX_NAMES,
  ...CLOCKS,
  ...Object.values(NAMES).flat(),
  ...Object.values(VOLUMES).flat(),
]);

/** True for a column that candles may have. */
export function isKnownName(name: string): boolean {
  return KNOWN.has(plainName(name)) || /^vol/i.test(name.trim());
}
