import { Download, Import } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { webConfig } from '../../api/config.ts';
import { useStoredData } from '../../api/coverage.ts';
import { useCall } from '../../api/queries.ts';
import type { ChosenFile } from '../../api/upload-files.ts';
import { ActButton } from '../../auth/act.tsx';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { CollectDialog } from './collect-dialog.tsx';
import { CollectionsPanel } from './collections-panel.tsx';
import { CoveragePanel } from './coverage-panel.tsx';
import { ImportsPanel } from './imports-panel.tsx';
import { useDataSearch } from './search.ts';
import { useDropTarget } from './use-drop-target.ts';
import './data.css';

const ImportView = lazy(async () => ({ default: (await import('./import-view.tsx')).ImportView }));

/** What is stored of which symbol, what is being collected, and how to get more. Files can be dropped anywhere on it. */
export function DataPage() {
  const [search, change] = useDataSearch();
  const [dropped, setDropped] = useState<readonly ChosenFile[]>();
  const drop = useDropTarget(
    (files) => {
      setDropped(files);
      change({ import: 'new' });
    },
    search.import === undefined || search.import === 'new',
  );
  return (
    <div className="data-page" data-over={drop.isOver} {...drop.handlers}>
      {search.import === undefined ? (
        <StoredData />
      ) : (
        <Suspense fallback={<Skeleton rows={16} className="panel" />}>
          <ImportView id={search.import} dropped={dropped} />
        </Suspense>
      )}
    </div>
  );
}

/**
 * The exchange whose candles are shown when the URL names none: the platform's, unless it has none and another one has. Undefined while that
 * is not known.
 */
function useShownExchange(): string | undefined {
  const [search] = useDataSearch();
  const { exchange: ours } = webConfig();
  const all = useCall('listSeries', {}, { enabled: search.exchange === undefined });
  if (search.exchange !== undefined) return search.exchange;
  if (all.error) return ours;
  const { items } = all.data ?? {};
  if (!items) return undefined;
  if (items.length === 0 || items.some(({ exchange }) => exchange === ours)) return ours;
  return items.reduce((last, each) => (each.updated_at > last.updated_at ? each : last)).exchange;
}

function StoredData() {
  const exchange = useShownExchange();
  return exchange === undefined ? <Skeleton rows={16} className="panel" /> : <StoredOf exchange={exchange} />;
}

function StoredOf({ exchange }: { readonly exchange: string }) {
  const [search, change] = useDataSearch();
  const stored = useStoredData(exchange);
  const buttons = <GetButtons />;
  return (
    <>
      <PageHead title="Data" actions={buttons}>
        <p className="muted">
          Candles stored of {exchange}
          <OtherExchanges shown={exchange} />
        </p>
      </PageHead>
      <Loaded query={stored} skeleton={<Skeleton rows={16} className="panel" />}>
        {(data) =>
          data.series.length === 0 && search.exchange === undefined ? (
            <Panel title="Coverage">
              <Empty title={`No candles of ${exchange} are stored yet`}>
                <p>
                  A backtest collects what it needs. You can also collect now, or import files that you have.
                </p>
                <div className="row data-center">{buttons}</div>
              </Empty>
            </Panel>
          ) : (
            <CoveragePanel data={data} />
          )
        }
      </Loaded>
      {stored.error && search.exchange !== undefined && (
        <div className="row data-center">
          <button type="button" className="btn" onClick={() => change({ exchange: webConfig().exchange })}>
            Show {webConfig().exchange}
          </button>
        </div>
      )}
      {/* Below what loads first, so that nothing moves. */}
      {(stored.data || stored.error) && (
        <>
          <ImportsPanel most={NEWEST_IMPORTS} />
          <CollectionsPanel />
        </>
      )}
      {search.collect !== undefined && (
        <CollectDialog
          key={search.collect}
          exchange={exchange}
          wanted={search.collect}
          start={search.from}
          onClose={() => change(CLOSED)}
          onStarted={(id) => change({ ...CLOSED, collection: id, status: undefined, cursor: undefined })}
        />
      )}
    </>
  );
}

/** Imports below what is stored; the page of an import has all. */
const NEWEST_IMPORTS = 5;
const EXCHANGES_SHOWN = 6;
const CLOSED = { collect: undefined, from: undefined };

/** The other exchanges with candles, each a button that shows them. */
function OtherExchanges({ shown }: { readonly shown: string }) {
  const [, change] = useDataSearch();
  const all = useCall('listSeries', {});
  const others = [...new Set((all.data?.items ?? []).map(({ exchange }) => exchange))].filter(
    (each) => each !== shown,
  );
  return others.slice(0, EXCHANGES_SHOWN).map((exchange) => (
    <button
      key={exchange}
      type="button"
      className="btn small plain"
      onClick={() => change({ exchange, series: undefined })}
    >
      {exchange}
    </button>
  ));
}

function GetButtons() {
  const [, change] = useDataSearch();
  return (
    <>
      <button type="button" className="btn" onClick={() => change({ import: 'new' })}>
        <Import aria-hidden="true" /> Import files
      </button>
      <ActButton operation="startCollection" kind="primary" onClick={() => change({ collect: '' })}>
        <Download aria-hidden="true" /> Collect candles
      </ActButton>
    </>
  );
}
