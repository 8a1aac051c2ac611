import { words } from '../../ui/format.ts';
import { CopyButton, Panel } from '../../ui/parts.tsx';
import type { Job } from './live.ts';

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${shown(each)}`)
    .join(', ');
}

function Values(props: { readonly values: Readonly<Record<string, unknown>> }) {
  return (
    <dl className="defs pad">
      {Object.entries(props.values).map(([name, value]) => [
        <dt key={`${name}-name`}>{words(name)}</dt>,
        <dd key={name}>{shown(value)}</dd>,
      ])}
    </dl>
  );
}

/** Everything that the trials have in common, with every default filled in. */
export function SettingsTab({ job }: { readonly job: Job }) {
  const { config, account, pairs, exchange, timeframe, precision, strategy, collection } = job;
  const mode = job.trading_mode && { trading_mode: job.trading_mode };
  const { search, ...how } = config;
  return (
    <div className="cols-2">
      <Panel
        title="Search"
        actions={<CopyButton text={JSON.stringify(config, null, 2)} label="Copy as JSON" />}
      >
        <Values values={how} />
      </Panel>
      <div className="stack">
        <Panel title="Market and account">
          <Values values={{ strategy, exchange, ...mode, pairs, timeframe, precision, ...account }} />
        </Panel>
        {Object.keys(search).length > 0 && (
          <Panel title="Searched parameters of the strategy">
            <Values
              values={Object.fromEntries(
                Object.entries(search).map(([name, range]) => [
                  name,
                  range.kind === 'choice' ? range.choices : `${range.min} to ${range.max}`,
                ]),
              )}
            />
          </Panel>
        )}
        {collection && (
          <Panel title="Collection of candles before the trials">
            <Values values={collection} />
          </Panel>
        )}
      </div>
    </div>
  );
}
