import { ArrowLeft } from 'lucide-react';
import { webConfig } from '../../api/config.ts';
import type { ChosenFile } from '../../api/upload-files.ts';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { ChooseFiles, ImportCommands } from './choose-files.tsx';
import { ImportDetail } from './import-detail.tsx';
import { ImportsPanel } from './imports-panel.tsx';
import { useDataSearch } from './search.ts';

/** Import of files, in place of the coverage: choosing and sending them, or one that has begun. */
export function ImportView(props: {
  /** ID of the import, or `new`. */
  readonly id: string;
  /** Files that were dropped on the page. */
  readonly dropped: readonly ChosenFile[] | undefined;
}) {
  const [, change] = useDataSearch();
  const { id } = props;
  return (
    <>
      <PageHead
        title="Import files"
        actions={
          <button type="button" className="btn" onClick={() => change({ import: undefined })}>
            <ArrowLeft aria-hidden="true" /> Stored data
          </button>
        }
      >
        <p className="muted">Candles and funding rates of your own, of any vendor</p>
      </PageHead>
      {id === 'new' ? (
        <NewImport dropped={props.dropped} onSent={(sent) => change({ import: sent })} />
      ) : (
        <ImportDetail key={id} id={id} />
      )}
      <ImportsPanel />
    </>
  );
}

function NewImport(props: {
  readonly dropped: readonly ChosenFile[] | undefined;
  readonly onSent: (id: string) => void;
}) {
  // Files are received by the local platform only.
  if (webConfig().stage === 'local') return <ChooseFiles {...props} />;
  return (
    <Panel title="Import files">
      <div className="pad stack">
        <p>
          A stage in AWS receives no files. Collect the candles, or import the files into a local platform:
        </p>
        <ImportCommands />
      </div>
    </Panel>
  );
}
