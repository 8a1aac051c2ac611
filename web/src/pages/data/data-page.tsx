import { Download, Import } from 'lucide-react';
import { webConfig } from '../../api/config.ts';
import { useStoredData } from '../../api/coverage.ts';
import { ActButton } from '../../auth/act.tsx';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { CollectDialog } from './collect-dialog.tsx';
import { CollectionsPanel } from './collections-panel.tsx';
import { CoveragePanel } from './coverage-panel.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { useDataSearch } from './search.ts';
import './data.css';

/** What is stored of which symbol, what is being collected, and how to get more. */
export function DataPage() {
  const [search, change] = useDataSearch();
  const exchange = search.exchange ?? webConfig().exchange;
  const stored = useStoredData(exchange);
  const buttons = <GetButtons />;
  return (
    <>
      <PageHead title="Data" actions={buttons}>
        <p className="muted">Candles stored of {exchange}</p>
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
          <button type="button" className="btn" onClick={() => change({ exchange: undefined })}>
            Show {webConfig().exchange}
          </button>
        </div>
      )}
      {/* Below what loads first, so that nothing moves. */}
      {(stored.data || stored.error) && <CollectionsPanel />}
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
      {search.import && <ImportDialog onClose={() => change({ import: undefined })} />}
    </>
  );
}

const CLOSED = { collect: undefined, from: undefined };

function GetButtons() {
  const [, change] = useDataSearch();
  return (
    <>
      <button type="button" className="btn" onClick={() => change({ import: true })}>
        <Import aria-hidden="true" /> Import files
      </button>
      <ActButton operation="startCollection" kind="primary" onClick={() => change({ collect: '' })}>
        <Download aria-hidden="true" /> Collect candles
      </ActButton>
    </>
  );
}
