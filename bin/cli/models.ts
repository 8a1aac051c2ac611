import { number, table } from './format.ts';

interface Quality {
  readonly rows: number;
  readonly auc: number | null;
  readonly log_loss: number | null;
  readonly base_log_loss: number | null;
  readonly brier: number | null;
}

/** The part of a report that tells of its models. */
export interface Models {
  readonly model_kind: string;
  readonly features: number;
  readonly horizon: number;
  readonly trained: number;
  readonly windows: readonly {
    readonly pair: string;
    readonly skipped: string | null;
    readonly quality: Quality;
  }[];
  readonly quality: Quality;
  readonly importances: readonly { readonly feature: string; readonly gain: number }[];
}

const SHOWN_FEATURES = 5;

/** How well models predicted what they had not seen, and by what. */
export function modelsText(models: Models): string {
  const { windows, quality, importances, model_kind, features, horizon, trained } = models;
  const pairs = [...new Set(windows.map(({ pair }) => pair))];
  const rows = pairs.map((pair) => {
    const own = windows.filter((window) => window.pair === pair && window.skipped === null);
    return [pair, own.length, ...figures(meanQuality(own.map((window) => window.quality)))];
  });
  const most = importances
    .slice(0, SHOWN_FEATURES)
    .map(({ feature, gain }) => `${feature} ${number(gain * 100, 0)} %`);
  return [
    `Models out of sample: ${model_kind}, ${features} features, labels known after ${horizon} candles`,
    table(
      ['Pair (mean of its windows)', 'Models', 'AUC', 'Log loss', 'Base rate', 'Brier', 'Predictions'],
      [...rows, ['All predictions as one', trained, ...figures(quality)]],
    ),
    `Most used: ${most.join(', ')}`,
  ].join('\n');
}

function figures({ auc, log_loss, base_log_loss, brier, rows }: Quality): string[] {
  return [...[auc, log_loss, base_log_loss, brier].map((value) => number(value, 3)), number(rows, 0)];
}

/** Mean over windows, each as much as it has predictions; a window in which a figure is undefined counts in none of it. */
function meanQuality(windows: readonly Quality[]): Quality {
  const mean = (name: 'auc' | 'log_loss' | 'base_log_loss' | 'brier') => {
    const known = windows.filter((window) => window[name] !== null);
    const rows = known.reduce((sum, window) => sum + window.rows, 0);
    return rows > 0 ? known.reduce((sum, window) => sum + window[name]! * window.rows, 0) / rows : null;
  };
  return {
    rows: windows.reduce((sum, window) => sum + window.rows, 0),
    auc: mean('auc'),
    log_loss: mean('log_loss'),
    base_log_loss: mean('base_log_loss'),
    brier: mean('brier'),
  };
}
