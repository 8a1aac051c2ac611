import './strategies.css';
import metrics from 'virtual:metrics';
import { getRouteApi, Link } from '@tanstack/react-router';
import { deflatedBy } from '#contract/values/deflated-ratio.ts';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Chart } from '../../charts/chart.tsx';
import { balance, resultText, signed, tone, withUnit } from '../../ui/format.ts';
import { CopyButton, PageHead, Panel, Tile, Time } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { ChampionDifference, deflatedText } from './champion-difference.tsx';
import { CheckList } from './check-list.tsx';
import { StageRail } from './stage-rail.tsx';
import { TransitionButtons } from './transitions.tsx';

type Version = ResponseOf<'getVersion'>;

const route = getRouteApi('/strategies/$name/versions/$version');

/** One version: its stage and checks, its metrics, and what it was made of. */
export function VersionPage() {
  const { name, version } = route.useParams();
  const query = useCall(
    'getVersion',
    { params: { model_name: name, version } },
    { isMoving: ({ validation }) => validation.status === 'pending' },
  );
  const { data: current } = useCall('getProduction', { params: { model_name: name } });
  const champion = current && 'version' in current ? current.version : undefined;
  return (
    <>
      <PageHead
        title={`${name} v${version}`}
        actions={
          query.data &&
          champion !== undefined && (
            <TransitionButtons
              subject={{
                model: name,
                version: query.data.version,
                stage: query.data.stage,
                production: champion,
              }}
            />
          )
        }
      >
        <p className="muted">
          <Link to="/strategies/$name" params={{ name }}>
            All versions of {name}
          </Link>
        </p>
      </PageHead>
      <Loaded query={query} skeleton={<Skeleton rows={14} />}>
        {(detail) => <VersionDetail version={detail} champion={champion ?? null} />}
      </Loaded>
    </>
  );
}

function VersionDetail(props: { readonly version: Version; readonly champion: string | null }) {
  const { version, champion } = props;
  const { validation, waivers } = version;
  return (
    <>
      <div className="panel rail-panel">
        <StageRail now={version.stage} />
      </div>
      <div className="row">
        {version.aliases.map((alias) => (
          <span key={alias} className="badge">
            {alias}
          </span>
        ))}
        {version.tags.map((tag) => (
          <span key={tag} className="badge">
            {tag}
          </span>
        ))}
        {version.rolled_back && (
          <span className="badge" data-tone="down">
            Rolled back{version.rolled_back_reason ? `: ${version.rolled_back_reason}` : ''}
          </span>
        )}
        {version.stopped && (
          <span className="badge" data-tone="down">
            Stopped{version.stopped_reason ? `: ${version.stopped_reason}` : ''}
          </span>
        )}
        <span className="muted">{version.description}</span>
      </div>
      <MetricTiles version={version} />
      {champion !== null && champion !== version.version && (
        <Panel title={`Difference to the champion, v${champion}`}>
          <ChampionDifference model={version.model_name} version={version} champion={champion} />
        </Panel>
      )}
      <EquityPanel run={version.backtest_run_id} />
      <Panel title={`Check list: ${validation.status}`}>
        {validation.checks.length === 0 ? (
          <Empty title="No check has run">Stage the version to run the check list.</Empty>
        ) : (
          <CheckList checks={validation.checks} />
        )}
        {waivers.map(({ action, checks, reason, actor, at }) => (
          <p key={at} className="notice" data-tone="warn">
            {actor} waived {checks.join(', ')} at the {action}: “{reason}” (<Time at={at} />)
          </p>
        ))}
      </Panel>
      <LineagePanel version={version} />
      <SettingsPanel version={version} />
    </>
  );
}

const TILES = [
  'total_profit_pct',
  'max_drawdown_pct',
  'sharpe_ratio',
  'profit_factor',
  'total_trades',
] as const;

function MetricTiles({ version }: { readonly version: Version }) {
  return (
    <div className="tiles">
      {TILES.map((name) => {
        const definition = metrics.definitions[name]!;
        // `Max drawdown % (daily equity)`: the unit stands at the value, and what it is measured on below.
        const [, label, basis] = /^(.*?)(?: %)?(?: \((.*)\))?$/.exec(definition.label)!;
        const number = version.metrics[name];
        const isProfit = name === 'total_profit_pct';
        return (
          <Tile
            key={name}
            label={label!}
            {...(basis ? { sub: basis } : {})}
            value={
              isProfit
                ? `${signed(number, 'percent')} %`
                : resultText(version.metrics, name, definition.unit, withUnit)
            }
            tone={isProfit ? tone(number) : ''}
            formula={definition.formula}
          />
        );
      })}
      <Tile
        label="Deflated Sharpe ratio"
        value={deflatedText(version)}
        sub={`by ${deflatedBy(version)}`}
        definition="Probability that the true Sharpe ratio is above what the best of so many trials without any skill would show."
      />
    </div>
  );
}

/** Daily equity of the registered backtest. */
function EquityPanel({ run }: { readonly run: string }) {
  const query = useCall('getBacktestEquity', { params: { job_id: run } }, { isImmutable: true });
  return (
    <div className="panel">
      <Loaded query={query} skeleton={<Skeleton rows={8} />}>
        {({ dates, equity }) => (
          <Chart
            title="Equity of its backtest"
            summary={`From ${money(equity[0])} to ${money(equity.at(-1))}, by day`}
            x={{ title: 'Day, UTC', isTime: true, values: dates.map((date) => Date.parse(date) / 1_000) }}
            panes={[
              {
                unit: '',
                series: [{ title: 'Equity', kind: 'area', color: 'series-1', format: money, values: equity }],
              },
            ]}
          />
        )}
      </Loaded>
    </div>
  );
}

const money = (amount: number | undefined) => balance(amount);

/** Version -> backtest -> candles, and who searched for it. */
function LineagePanel({ version }: { readonly version: Version }) {
  const { evidence, backtest_run_id, candle_digest, engine_version, strategy_digest } = version;
  return (
    <Panel title="Lineage">
      <ol className="lineage pad">
        <li>
          <strong>Version {version.version}</strong>
          <span className="muted">
            registered <Time at={version.created_at} /> by {version.created_by}
          </span>
          <code>{version.content_hash}</code>
        </li>
        <li>
          <strong>Backtest</strong>
          <Link to="/backtests/$id" params={{ id: backtest_run_id }}>
            <code>{backtest_run_id}</code>
          </Link>
          <span className="muted">
            engine {engine_version}, strategy <code>{strategy_digest}</code>
          </span>
        </li>
        {(evidence?.hyperopt_job_id || evidence?.trial_record) && (
          <li>
            <strong>Found by</strong>
            {evidence.hyperopt_job_id && (
              <Link to="/hyperopt/$id" params={{ id: evidence.hyperopt_job_id }}>
                <code>{evidence.hyperopt_job_id}</code>
              </Link>
            )}
            <span className="muted">
              {version.trials} {version.trials === 1 ? 'trial' : 'trials'}, deflated Sharpe ratio{' '}
              {withUnit(evidence.deflated_sharpe_ratio, 'probability')} by {deflatedBy(version)}
            </span>
          </li>
        )}
        <li>
          <strong>Candles</strong>
          {evidence && (
            <span>
              <Time at={evidence.from} isDate /> to <Time at={evidence.to} isDate /> UTC
            </span>
          )}
          <code>{candle_digest}</code>
        </li>
        <li>
          <strong>Image</strong>
          <span>{version.container_image_uri}</span>
          {version.image_digest && <code>{version.image_digest}</code>}
        </li>
      </ol>
    </Panel>
  );
}

function SettingsPanel({ version }: { readonly version: Version }) {
  const text = JSON.stringify(version.config, null, 2);
  return (
    <Panel title="Configuration" actions={<CopyButton text={text} />}>
      <details className="pad">
        <summary>
          {version.config.pairs.length} pairs, {version.config.timeframe}
        </summary>
        <pre className="scroll">{text}</pre>
      </details>
    </Panel>
  );
}
