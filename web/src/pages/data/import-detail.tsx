import { Ban, Eye, FilePlus2, Import } from 'lucide-react';
import { useState } from 'react';
import { formatCount } from '#contract/values/format-count.ts';
import type { ResponseOf } from '../../api/client.ts';
import { useAction, useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Form } from '../../forms/form.tsx';
import { Rejection } from '../../ui/confirm-dialog.tsx';
import { decimal, sizeText } from '../../ui/format.ts';
import { Panel, Progress } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { ImportOptionFields, type Options } from './import-option-fields.tsx';
import { ImportReport, NextSteps } from './import-report.tsx';
import { isMoving, useRefreshOfStored } from './imports-panel.tsx';
import { useDataSearch } from './search.ts';

type Details = ResponseOf<'getImport'>;

const CHANGED = ['getImport', 'listImports'] as const;

/** An import that has begun: its preview, its progress, or what it stored. */
export function ImportDetail({ id }: { readonly id: string }) {
  const query = useCall('getImport', { params: { import_id: id } }, { isMoving });
  useRefreshOfStored(query.data && (query.data.status === 'importing' ? 1 : 0));
  return (
    <Loaded query={query} skeleton={<Skeleton rows={16} className="panel" />}>
      {(details) => <ImportState details={details} />}
    </Loaded>
  );
}

function ImportState({ details }: { readonly details: Details }) {
  const { status, error, report } = details;
  const files = `${formatCount(details.files, 'file')}, ${sizeText(details.bytes)}`;
  if (status === 'completed') {
    return (
      <>
        <Panel title="Imported" actions={<MoreFiles />}>
          <div className="pad stack">{report && <NextSteps report={report} />}</div>
        </Panel>
        {report && <ImportReport report={report} />}
      </>
    );
  }
  if (status === 'failed' || status === 'cancelled') {
    return (
      <Panel
        title={status === 'failed' ? 'The import failed' : 'The import was cancelled'}
        actions={<MoreFiles />}
      >
        <div className="pad stack">
          <p className="notice" data-tone={status === 'failed' ? 'down' : 'warn'} role="status">
            {error ?? 'Nothing was stored.'}
          </p>
          <p className="muted">{files}. The files were removed from the platform.</p>
        </div>
      </Panel>
    );
  }
  const isArriving = details.received_files < details.files || details.received_bytes < details.bytes;
  if (isMoving(details) || isArriving)
    return <Running details={details} isArriving={isArriving} files={files} />;
  return <Preview details={details} files={files} />;
}

function MoreFiles() {
  const [, change] = useDataSearch();
  return (
    <button type="button" className="btn small" onClick={() => change({ import: 'new' })}>
      <FilePlus2 aria-hidden="true" /> Import more files
    </button>
  );
}

function Running(props: { readonly details: Details; readonly isArriving: boolean; readonly files: string }) {
  const { details, isArriving, files } = props;
  const { status, progress } = details;
  const sent = details.bytes === 0 ? undefined : details.received_bytes / details.bytes;
  const title = isArriving
    ? 'Files are missing'
    : status === 'importing'
      ? 'The files are imported'
      : 'The files are read';
  return (
    <Panel title={title}>
      <div className="pad stack" role="status">
        <p>
          {isArriving
            ? `${formatCount(details.received_files, 'file')} of ${formatCount(details.files, 'file')} arrived. The page that sent them may have been closed: cancel this import, and choose the files again.`
            : progress === null
              ? `${files}. It waits for another import.`
              : `${files}. ${decimal(Math.floor(progress * 100), 0)} % are read.`}
        </p>
        <Progress value={isArriving ? sent : (progress ?? undefined)} label="Progress of the import" />
        <div className="row">
          <CancelImport id={details.import_id} />
          {status === 'importing' && (
            <span className="faint">You can close this page: the import continues, and is listed below.</span>
          )}
        </div>
      </div>
    </Panel>
  );
}

/** Months that are stored stay, and a preview has stored nothing: there is nothing to confirm. */
function CancelImport({ id }: { readonly id: string }) {
  const cancel = useAction('cancelImport', CHANGED);
  return (
    <>
      <ActButton
        operation="cancelImport"
        kind="danger"
        isBusy={cancel.isPending}
        onClick={() => cancel.mutate({ params: { import_id: id } })}
      >
        <Ban aria-hidden="true" /> Cancel the import
      </ActButton>
      <Rejection error={cancel.error} />
    </>
  );
}

const sameOptions = (a: Options, b: Options) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (options: Options) =>
  Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** What would be stored, and the form that corrects it. What is imported is what the preview has shown. */
function Preview({ details, files }: { readonly details: Details; readonly files: string }) {
  const { import_id, report, error } = details;
  const stated: Options = details.options ?? {};
  const [options, setOptions] = useState<Options>(stated);
  const preview = useAction('previewImport', CHANGED);
  const start = useAction('startImport', CHANGED);
  const isChanged = !sameOptions(options, stated);
  const count = report?.series_count ?? 0;
  const request = { params: { import_id }, body: options };
  return (
    <>
      <Panel title="Preview" actions={<span className="muted">{files}</span>}>
        <div className="pad stack">
          <Verdict report={report} error={error} />
          <Form
            label="Options of the import"
            error={preview.error ?? start.error}
            onSubmit={() => (isChanged || count === 0 ? preview.mutate(request) : start.mutate(request))}
            actions={
              <>
                {isChanged || count === 0 ? (
                  <ActButton
                    operation="previewImport"
                    type="submit"
                    kind="primary"
                    isBusy={preview.isPending}
                  >
                    <Eye aria-hidden="true" /> Show the preview again
                  </ActButton>
                ) : (
                  <ActButton operation="startImport" type="submit" kind="primary" isBusy={start.isPending}>
                    <Import aria-hidden="true" /> Import {formatCount(count, 'series', 'series')}
                  </ActButton>
                )}
                <CancelImport id={import_id} />
              </>
            }
          >
            <ImportOptionFields
              options={options}
              onChange={(fields) => setOptions({ ...options, ...fields })}
            />
          </Form>
        </div>
      </Panel>
      {report && <ImportReport report={report} />}
    </>
  );
}

/** The preview in a sentence. */
function Verdict({ report, error }: Pick<Details, 'report' | 'error'>) {
  if (!report) {
    return (
      <p className="notice" data-tone="down" role="status">
        The files could not be read: {error ?? 'the preview ended'}. Show the preview again.
      </p>
    );
  }
  const { files, imported_files: good, series_count: series } = report;
  const rest = files - good;
  const tone = good === 0 ? 'down' : rest > 0 ? 'warn' : 'up';
  return (
    <p className="notice" data-tone={tone} role="status">
      {good === 0
        ? 'None of the files would be imported. The reasons below name the option that helps.'
        : `${formatCount(series, 'series', 'series')} of ${formatCount(good, 'file')} would be stored.`}
      {good > 0 && rest > 0 && ` ${formatCount(rest, 'file')} would not, for the reasons below.`}
    </p>
  );
}
