import type * as z from 'zod';
import type { ModelHistory, ModelVersion, ModelVersionList } from '#contract/registry-api.ts';
import type { ApiClient } from './client.ts';
import { minute, number, percent, table, wrap } from './format.ts';

export interface VersionsOptions {
  readonly archived: boolean;
  readonly history?: boolean;
}

/** Prints the versions of a model, newest first, or what was done to them. */
export async function printVersions(
  client: ApiClient,
  model: string,
  options: VersionsOptions,
): Promise<void> {
  const path = `/api/v1/models/${encodeURIComponent(model)}`;
  if (options.history) {
    const history = await client.get<z.infer<typeof ModelHistory>>(`${path}/history?limit=100`);
    console.log(historyTable(history.items));
    if (history.next_cursor) console.log('Older events exist: GET /api/v1/models/{model_name}/history');
    return;
  }
  const { versions } = await client.get<z.infer<typeof ModelVersionList>>(
    `${path}/versions?include_archived=${options.archived}`,
  );
  console.log(
    versions.length > 0
      ? versionTable(versions)
      : `No version of ${model} but archived ones: leave out --no-archived`,
  );
}

function versionTable(versions: readonly ModelVersion[]): string {
  return table(
    [
      'Version',
      'Stage',
      'Validation',
      'Trades',
      'Profit',
      'Sharpe',
      'Drawdown',
      'Created (UTC)',
      'By',
      'Description',
    ],
    versions.map((each) => [
      [each.version, ...each.aliases].join(' '),
      each.rolled_back ? `${each.stage} (rolled back)` : each.stage,
      each.validation_status,
      number(each.metrics.total_trades, 0),
      percent(each.metrics.total_profit_pct),
      number(each.metrics.sharpe_ratio),
      percent(each.metrics.max_drawdown_pct),
      minute(each.created_at),
      each.created_by,
      wrap([each.description, ...waivedText(each)].filter(Boolean).join('; '), 40),
    ]),
  );
}

/** The checks of the release policy that were waived for it. */
function waivedText({ waivers }: ModelVersion): string[] {
  const names = [...new Set(waivers.flatMap(({ checks }) => checks))];
  return names.length > 0 ? [`waived: ${names.join(', ')}`] : [];
}

function historyTable(events: z.infer<typeof ModelHistory>['items']): string {
  return table(
    ['When (UTC)', 'Who', 'What', 'Version', 'From', 'To', 'In Production', 'Challenge', 'Why'],
    events.map((event) => [
      minute(event.at),
      event.actor,
      event.action,
      event.version,
      event.from,
      event.to,
      event.production,
      event.challenge_id,
      wrap([event.reason, ...event.notes, event.waiver?.reason].filter(Boolean).join('; '), 40),
    ]),
  );
}
