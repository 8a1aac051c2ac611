import * as z from 'zod';
import {
  BacktestResult,
  CollectionOutcome,
  FoundBy,
  JOB_STATUSES,
  JobTiming,
  RegisteredVersion,
  ResolvedBacktestConfig,
} from './backtest.ts';
import { ACCOUNT_FIELDS, CollectMode, MARKET_FIELDS, paginated, Timestamp } from './common.ts';
import { LookAhead } from './look-ahead.ts';
import { MlEngineRequest } from './ml-engine.ts';
import { integerParameter, textParameter } from './parameters.ts';

/** Requests and responses of the backtest operations. */

const ConfigRequest = z
  .looseObject({
    strategy: z.string().meta({ description: 'Name of a strategy, see GET /api/v1/strategies' }),
    ...MARKET_FIELDS,
    date_range: z
      .looseObject({
        start: Timestamp.optional().meta({ description: 'Default 90 days before `end`' }),
        end: Timestamp.optional().meta({
          description:
            'Exclusive: no candle that opens at or after it. Default the end of the newest stored candle, else now',
        }),
      })
      .optional()
      .meta({ description: 'ISO 8601; without an offset it is UTC. start must be before end' }),
    ...ACCOUNT_FIELDS,
    params: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "Values of the strategy's parameters; the others keep their defaults" }),
    stoploss: z.number().optional().meta({
      description: 'Ratio of the stake; default the stop of the strategy',
      exclusiveMinimum: -1,
      exclusiveMaximum: 0,
    }),
    minimal_roi: z.record(z.string(), z.number()).optional().meta({
      description: 'Minutes since entry -> required profit ratio; default the table of the strategy',
      maxProperties: 50,
    }),
    trailing: z
      .looseObject({
        positive: z.number().optional().meta({
          description: 'Distance once the offset is passed; without it the distance is |stoploss|',
          exclusiveMinimum: 0,
          maximum: 1,
        }),
        offset: z.number().optional().meta({
          description: 'Profit ratio at which `positive` starts to apply',
          default: 0,
          minimum: 0,
          maximum: 10,
        }),
        only_offset_is_reached: z
          .boolean()
          .optional()
          .meta({ description: 'Trail nothing until the offset is reached', default: false }),
      })
      .nullable()
      .optional()
      .meta({ description: 'Trailing stop; null switches the one of the strategy off' }),
    timeframe_detail: z.string().optional().meta({
      description: 'Finer timeframe that decides the order of events inside a candle; one of the timeframes',
    }),
    fill_model: z
      .string()
      .optional()
      .meta({
        description:
          '`conservative`: a gap beyond the stop fills at the open, the stop comes before the target, no favourable order inside a candle',
        default: 'freqtrade',
        enum: ['freqtrade', 'conservative'],
      }),
    seed: z.int().optional().meta({
      description: 'Seed of everything random',
      default: 0,
      minimum: 0,
      maximum: 4_294_967_295,
    }),
    ml_engine: MlEngineRequest.optional().meta({
      description:
        'Models that predict each pair; without it, those that the strategy declares. With `enabled`, any strategy can run with them: its entries then need the probability of `entry_threshold`',
    }),
  })
  .meta({
    id: 'BacktestConfig',
    description:
      'Only `strategy` is required. An unknown key that misspells a known one which is not given is VAL005; the warnings of the job name every other, which is ignored.',
  });

export const BacktestRequest = z
  .looseObject({
    config: ConfigRequest,
    experiment_name: z
      .string()
      .optional()
      .meta({ description: 'Stored, returned and a filter of the list', minLength: 1, maxLength: 200 }),
    priority: z.int().optional().meta({
      description: 'Order in the queue; from 8 on the run uses on-demand capacity',
      default: 5,
      minimum: 1,
      maximum: 10,
    }),
    model_version: z.union([z.string(), z.int()]).optional().meta({
      description:
        'The registered version of the strategy to run: a number, `latest` or `champion`. Its configuration takes the place of the defaults, and in AWS it runs in its registered image',
    }),
    hyperopt_job_id: z.string().optional().meta({
      description:
        'A completed hyperopt job of the strategy whose best parameters to run: its configuration takes the place of the defaults. A version that is registered from the backtest keeps the number of trials behind it',
      pattern: '^ho-[A-Za-z0-9]{1,64}$',
    }),
  })
  .meta({
    id: 'BacktestRequest',
    examples: [
      { config: { strategy: 'ema_crossover' } },
      {
        config: {
          strategy: 'ema_crossover',
          pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
          timeframe: '5m',
          date_range: { start: '2024-01-01T00:00:00Z', end: '2024-04-01T00:00:00Z' },
          stake_amount: 100,
          dry_run_wallet: 1000,
        },
        experiment_name: 'first-steps',
        priority: 5,
      },
    ],
  });
export type BacktestRequest = z.infer<typeof BacktestRequest>;

const JobId = z.string().meta({ description: 'Shape `bt-<id>`' });
const Status = z.enum(JOB_STATUSES);

export const BacktestSubmission = z
  .object({
    job_id: JobId,
    status: Status,
    created_at: Timestamp,
    warnings: z.array(z.string()).meta({ description: 'What was ignored, such as an unknown key' }),
  })
  .meta({ id: 'BacktestSubmission' });

const summary = {
  job_id: JobId,
  status: Status,
  result: BacktestResult.nullable().meta({ description: 'Present when completed' }),
  error: z.string().nullable().meta({ description: 'Present when failed' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  priority: z.int(),
};

export const BacktestJobSummary = z.object(summary).meta({ id: 'BacktestJobSummary' });

export const BacktestJob = z
  .object({
    ...summary,
    error_code: z.string().nullable(),
    registered: RegisteredVersion.nullable().meta({
      description: 'The registered version that is run, if one is',
    }),
    found_by: FoundBy.nullable().meta({
      description: 'The hyperopt job whose best parameters are run, if one is',
    }),
    progress: z
      .number()
      .nullable()
      .meta({ description: 'Share done, 0 to 1; null for a job that failed or was cancelled' }),
    stalled: z.string().nullable().meta({
      description:
        'Of a running job on one machine: where it has not moved for a minute, as `no progress for 60 s in customExit of ETH/USDT:USDT`; null otherwise',
    }),
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    attempt: z.int().meta({ description: 'Times a task has claimed the job' }),
    config: ResolvedBacktestConfig.extend({ collect: CollectMode }).meta({ id: 'BacktestJobConfig' }),
    warnings: z.array(z.string()),
    collection: CollectionOutcome.nullable().meta({
      description: 'Outcome of the data collection that preceded the run; null when none was needed',
    }),
    timing: JobTiming.nullable().meta({ description: 'Present when completed' }),
    look_ahead: LookAhead.nullable().meta({ description: 'Present when completed' }),
  })
  .meta({ id: 'BacktestJob' });

export const BacktestJobList = paginated(BacktestJobSummary).meta({ id: 'BacktestJobList' });

export const EquityData = z
  .object({
    dates: z.array(z.string().meta({ format: 'date' })),
    equity: z.array(z.number()).meta({ description: 'At the end of each day, open positions valued' }),
    drawdown: z
      .array(z.number())
      .meta({ description: 'Percent below the running maximum, zero or negative' }),
    monthly_returns: z.record(z.string(), z.number()).meta({
      description: 'YYYY-MM -> percent: equity at the end of the month over that of the month before',
    }),
  })
  .meta({ id: 'EquityData' });

export const BacktestParams = z.object({
  job_id: z
    .string()
    .regex(/^bt-[A-Za-z0-9]{1,64}$/)
    .meta({ description: 'Shape `bt-<id>`' }),
});

export const BacktestListQuery = z.object({
  limit: integerParameter({ min: 1, max: 100, description: 'Items on a page' }).default(20),
  cursor: textParameter(4096, '`next_cursor` of the page before, with the same filters').optional(),
  status: Status.optional().meta({ description: 'Only jobs in this status' }),
  experiment_name: textParameter(200, 'Only jobs of this experiment').optional(),
});
export type BacktestListQuery = z.output<typeof BacktestListQuery>;

export const BacktestReportQuery = z.object({
  page: integerParameter({ min: 1, max: 1_000_000, description: 'Page of the trades, 1,000 each' }).default(
    1,
  ),
});
