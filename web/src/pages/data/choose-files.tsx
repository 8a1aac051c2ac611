import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FileUp, FolderUp, Upload } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '#contract/values/format-count.ts';
import { IMPORT_LIMITS } from '#contract/values/import-limits.ts';
import { call } from '../../api/client.ts';
import { type ChosenFile, inputFiles, tooMany, uploadFiles } from '../../api/upload-files.ts';
import { useDenial } from '../../auth/act.tsx';
import { Rejection } from '../../ui/confirm-dialog.tsx';
import { sizeText } from '../../ui/format.ts';
import { CopyButton, Panel, Progress } from '../../ui/parts.tsx';

const COMMANDS = [
  ['npx --no-install touchstone import user_data/data/binance', 'A folder of any size, where it is'],
  ['npx --no-install touchstone import downloads --dry-run', 'Only what would be stored'],
] as const;

/** Commands that import files where they are. */
export function ImportCommands() {
  return (
    <ul className="stack">
      {COMMANDS.map(([command, words]) => (
        <li key={command} className="data-command">
          <span className="muted">{words}</span>
          <code>{command}</code>
          <CopyButton text={command} />
        </li>
      ))}
    </ul>
  );
}

/** Sends files, and asks for their preview. Leaving the page ends it. */
function useUpload(onSent: (id: string) => void) {
  const client = useQueryClient();
  const [sent, setSent] = useState(0);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const upload = useMutation<string, Error, readonly ChosenFile[]>({
    mutationFn: async (files) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      setSent(0);
      const problem = tooMany(files);
      if (problem !== undefined) throw new Error(problem);
      const import_id = await uploadFiles(files, setSent, controller.signal);
      await call('previewImport', { params: { import_id }, body: {} });
      return import_id;
    },
    onSuccess: onSent,
    onSettled: () => client.invalidateQueries({ queryKey: ['listImports'] }),
  });
  return { ...upload, sent, abort: () => running.current?.abort() };
}

/** A place for files, which are sent at once. Long because it is the markup of one place in its states. */
export function ChooseFiles(props: {
  /** Files that were dropped on the page. */
  readonly dropped: readonly ChosenFile[] | undefined;
  readonly onSent: (id: string) => void;
}) {
  const denial = useDenial('createImport');
  const upload = useUpload(props.onSent);
  const { mutate, isPending } = upload;
  const taken = useRef<readonly ChosenFile[]>(undefined);
  useEffect(() => {
    if (props.dropped === undefined || props.dropped === taken.current) return;
    taken.current = props.dropped;
    if (denial === undefined && !isPending) mutate(props.dropped);
  }, [props.dropped, denial, isPending, mutate]);
  const files = upload.variables ?? [];
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  return (
    <Panel title="Files">
      <div className="pad stack">
        {upload.isPending ? (
          <div className="import-sending stack" role="status">
            <p>
              <strong>Sending {formatCount(files.length, 'file')}</strong>{' '}
              <span className="muted">
                {sizeText(upload.sent)} of {sizeText(total)}
              </span>
            </p>
            <Progress value={total === 0 ? undefined : upload.sent / total} label="Sent part of the files" />
            <div className="row">
              <button type="button" className="btn small" onClick={upload.abort}>
                Cancel
              </button>
              <span className="faint">Keep this page open until they are sent.</span>
            </div>
          </div>
        ) : (
          <div className="import-drop">
            <Upload aria-hidden="true" />
            <p className="import-drop-title">Drop files or a folder here</p>
            <p className="muted">
              CSV, Parquet, Feather, JSON, zips of exchanges and vendors, folders of freqtrade. Up to{' '}
              {sizeText(IMPORT_LIMITS.bytes.max)}. Nothing is stored before you have seen it.
            </p>
            <div className="row data-center">
              <Chooser label="Choose files" denial={denial} Icon={FileUp} onFiles={mutate} />
              <Chooser label="Choose a folder" denial={denial} Icon={FolderUp} isFolder onFiles={mutate} />
            </div>
            {denial && <p className="muted">{denial}</p>}
          </div>
        )}
        {upload.error?.name !== 'AbortError' && <Rejection error={upload.error} />}
        <details>
          <summary>Import by a command</summary>
          <div className="stack import-commands">
            <p className="muted">
              On the machine that runs Touchstone, a command reads files where they are. It has the same
              result.
            </p>
            <ImportCommands />
          </div>
        </details>
      </div>
    </Panel>
  );
}

/** A button that opens the dialog of the browser for files, or for a folder. */
function Chooser(props: {
  readonly label: string;
  readonly denial: string | undefined;
  readonly Icon: typeof FileUp;
  readonly isFolder?: boolean;
  readonly onFiles: (files: readonly ChosenFile[]) => void;
}) {
  const { label, denial, Icon, isFolder = false } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className={isFolder ? 'btn' : 'btn primary'}
        aria-disabled={denial !== undefined}
        title={denial}
        onClick={() => denial === undefined && input.current?.click()}
      >
        <Icon aria-hidden="true" /> {label}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={label}
        {...(isFolder ? { webkitdirectory: '' } : {})}
        onChange={({ target }) => {
          const files = inputFiles(target.files);
          // The same files can be chosen again.
          target.value = '';
          if (files.length > 0) props.onFiles(files);
        }}
      />
    </>
  );
}
