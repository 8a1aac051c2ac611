/** Days on which markets broke, in UTC, both ends included. Add a row to have it in every later report. */
export interface StressWindow {
  readonly name: string;
  /** YYYY-MM-DD. */
  readonly start: string;
  readonly end: string;
  /** One sentence. */
  readonly text: string;
}

export const STRESS_WINDOWS: readonly StressWindow[] = [
  {
    name: 'Covid crash',
    start: '2020-03-08',
    end: '2020-03-16',
    text: 'Markets fell worldwide over the pandemic; bitcoin lost about half of its value in two days.',
  },
  {
    name: 'May 2021 deleveraging',
    start: '2021-05-12',
    end: '2021-05-24',
    text: 'Bans on mining and trading in China ended a rise on credit in a chain of liquidations.',
  },
  {
    name: 'Luna',
    start: '2022-05-05',
    end: '2022-05-14',
    text: 'The stablecoin TerraUSD lost its peg, and Luna fell to almost nothing.',
  },
  {
    name: 'June 2022 credit crisis',
    start: '2022-06-10',
    end: '2022-06-19',
    text: 'The lender Celsius stopped withdrawals, and the fund Three Arrows Capital failed.',
  },
  {
    name: 'FTX',
    start: '2022-11-06',
    end: '2022-11-14',
    text: 'The exchange FTX stopped withdrawals and went bankrupt.',
  },
  {
    name: 'USDC peg',
    start: '2023-03-09',
    end: '2023-03-13',
    text: 'Silicon Valley Bank failed with reserves of USDC, which traded below 0.90 dollars.',
  },
  {
    name: 'August 2024 carry trade',
    start: '2024-08-01',
    end: '2024-08-06',
    text: 'A rate rise in Japan ended trades financed in yen, and all risky assets fell.',
  },
  {
    name: 'October 2025 liquidations',
    start: '2025-10-10',
    end: '2025-10-12',
    text: 'News of tariffs led to the largest liquidations of perpetual futures up to then.',
  },
];
