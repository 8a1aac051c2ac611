import * as z from 'zod';

/** Pairs that a run chose over time, and what another choice would have shown: the section `universe` of a report. */

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC' });
const figure = (unit: 'percent' | 'ratio') => z.number().nullable().meta({ 'x-unit': unit });

const Member = z
  .object({
    pair: z.string(),
    intervals: z
      .array(z.object({ from: timestamp, to: timestamp }))
      .meta({ description: 'Times in which the pair may be entered; `to` is exclusive' }),
    days_in: z.number().meta({ description: 'Length of the intervals, days' }),
    ends: timestamp.nullable().meta({
      description: 'Close of the last candle of a pair whose candles end before the run; null: they do not',
    }),
  })
  .meta({ id: 'UniverseMember' });

export const LEFT_OUT_REASONS = ['no_candles', 'no_instrument', 'corrupt_file'] as const;

const LeftOut = z
  .object({
    pair: z.string(),
    reason: z.enum(LEFT_OUT_REASONS),
    missing: z.string().meta({ description: 'What is missing, such as `1h candles`' }),
  })
  .meta({ id: 'UniverseLeftOut' });
export type UniverseLeftOut = z.infer<typeof LeftOut>;

const Figures = z
  .object({
    total_profit_pct: figure('percent'),
    cagr_pct: figure('percent'),
    sharpe_ratio: figure('ratio'),
    max_drawdown_pct: figure('percent'),
    total_trades: z.int(),
  })
  .meta({ id: 'UniverseFigures' });
export type UniverseFigures = z.infer<typeof Figures>;

const SURVIVORSHIP_CHOICES = ['survivors', 'final_ranking'] as const;

const Survivorship = z
  .object({
    choice: z.enum(SURVIVORSHIP_CHOICES).meta({
      description:
        '`survivors`: the same rule among the pairs that still trade at the end; `final_ranking`: the pairs that rank highest at the end, over the whole range',
    }),
    pairs: z.array(z.string()).meta({ description: 'Pairs that were ever in' }),
    figures: Figures.nullable().meta({
      description: 'Of the same run over these pairs; null: none could be traded',
    }),
    added: Figures.nullable().meta({
      description: '`figures` less those of the run: what survivorship would have added',
    }),
  })
  .meta({ id: 'UniverseSurvivorship' });

export const ReportUniverse = z
  .object({
    candidates: z.int().meta({ description: 'Stored pairs that were ranked' }),
    rebalances: z.int().meta({ description: 'Choices, the one at the start included' }),
    short_rebalances: z.int().meta({ description: 'Choices that found fewer than `n` pairs' }),
    delisted_trades: z.int().optional().meta({
      description:
        'Trades that were closed because their pair was delisted, with the exit reason `delisted`; absent in reports of engines before 1.8.0',
    }),
    members: z.array(Member).meta({ description: 'Every pair that was ever in, in the order of the run' }),
    left_out: z.array(LeftOut).optional().meta({
      description: 'Candidates that could not be chosen, in the order of the run; absent without any',
    }),
    survivorship: z.array(Survivorship),
    digest: z.string().meta({ description: 'Over the volumes of all candidates; sha-256, hex' }),
  })
  .meta({ id: 'ReportUniverse' });
export type ReportUniverse = z.infer<typeof ReportUniverse>;
