import LIMITS from 'virtual:limits';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '#contract/values/format-count.ts';
import { useCall } from '../../api/queries.ts';
import { type UploadedSignals, uploadSignals } from '../../api/upload-signals.ts';
import { useDenial } from '../../auth/act.tsx';
import { SelectField } from '../../forms/choices.tsx';
import { Field } from '../../forms/field.tsx';
import { TextField } from '../../forms/inputs.tsx';
import { decimal, sizeText, utcTime } from '../../ui/format.ts';
import { Progress } from '../../ui/parts.tsx';
import type { Config } from './draft.ts';
import { readSignalsCsv, type SignalsFacts } from './signals-file.ts';

const { limits, columns, unusedDays } = LIMITS.signals;

/** What each column of a file may have. */
const COLUMN_TEXTS: Readonly<Record<string, string>> = {
  timestamp: 'Needed. Open time of the candle that decides, UTC: ISO 8601, Unix ms or Unix s',
  pair: 'Needed. Such as BTC/USDT:USDT',
  enter_long: '1, 0, true, false or nothing. At least one of these four is needed',
  exit_long: 'As enter_long',
  enter_short: 'As enter_long',
  exit_short: 'As enter_long',
  enter_tag: `Text of up to ${limits.tag_length} characters`,
  exit_tag: 'As enter_tag. Replaces the exit reason',
  stake_ratio: `Factor of the stake of an entry, above 0 and at most ${limits.stake_ratio.max}`,
};

interface Upload {
  readonly created: UploadedSignals;
  /** undefined for Parquet: the browser does not read it. */
  readonly facts: SignalsFacts | undefined;
}

type SignalsUpload = UseMutationResult<Upload, Error, File> & {
  /** Part that is sent, 0 to 1; undefined while the file is read. */
  readonly sent: number | undefined;
};

/** Key of the uploads: the form is not sent before they have ended. */
export const UPLOAD_KEY = ['uploadSignals'] as const;

/**
 * Upload of the file that the user chose last. An earlier one is aborted, and all are when the fields go.
 *
 * @param change sets the file, and from CSV its pairs and its first row as the start
 */
function useSignalsUpload(change: (fields: Partial<Config>) => void): SignalsUpload {
  const client = useQueryClient();
  const [sent, setSent] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const upload = useMutation<Upload, Error, File>({
    mutationKey: UPLOAD_KEY,
    mutationFn: async (file) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      setSent(undefined);
      checkSize(file);
      const isParquet = (await file.slice(0, 4).text()) === 'PAR1';
      const facts = isParquet ? undefined : readSignalsCsv(await file.text(), columns);
      return { facts, created: await uploadSignals(file, setSent, controller.signal) };
    },
    onSuccess: ({ created, facts }) => {
      change({
        signals: created.signals_id,
        signals_digest: undefined,
        ...(facts && { pairs: [...facts.pairs] }),
        ...(facts?.first !== undefined && { date_range: { start: new Date(facts.first).toISOString() } }),
      });
      void client.invalidateQueries({ queryKey: ['listSignals'] });
    },
  });
  return { ...upload, sent };
}

function checkSize({ name, size }: File): void {
  if (size === 0) throw new Error(`${name} is empty`);
  if (size > limits.bytes.max) {
    throw new Error(
      `${name} has ${sizeText(size)}, more than ${sizeText(limits.bytes.max)}: split it by pair or time`,
    );
  }
}

/**
 * The file that strategy `signals` trades: a new one, one that is uploaded, or one that another user has shared.
 * Long because it is one choice among three sources of a file, each with its states.
 */
export function SignalsFields(props: {
  readonly value: string | undefined;
  readonly onChange: (fields: Partial<Config>) => void;
}) {
  const { value, onChange } = props;
  const upload = useSignalsUpload(onChange);
  const denial = useDenial('createSignals');
  const files = useCall('listSignals', { query: { limit: 100 } });
  const items = files.data?.items ?? [];
  const known = items.map(({ signals_id, name, bytes, created_at }) => ({
    value: signals_id,
    label: `${name ?? signals_id}, ${utcTime(created_at)} UTC, ${sizeText(bytes)}`,
  }));
  const choose = (signals: string | undefined) => onChange({ signals, signals_digest: undefined });
  return (
    <div className="fields pad">
      <Field
        label="New file"
        path="signals.file"
        help={denial ?? `CSV or Parquet, up to ${sizeText(limits.bytes.max)}. Choose it or drop it here`}
        error={upload.error?.message}
      >
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".csv,.parquet"
            disabled={denial !== undefined}
            // The same file can be chosen again after it was changed.
            onClick={({ currentTarget }) => {
              currentTarget.value = '';
            }}
            onChange={({ target }) => {
              const file = target.files?.[0];
              if (file) upload.mutate(file);
            }}
          />
        )}
      </Field>
      <SelectField
        label="Uploaded file"
        path="signals.uploaded"
        help={
          files.error
            ? `Your files could not be loaded: ${files.error.message}`
            : `Your newest files. One without a backtest is deleted after ${unusedDays} days`
        }
        placeholder={known.length === 0 ? 'None yet' : 'Choose'}
        value={known.some((each) => each.value === value) ? value : undefined}
        options={known}
        onChange={choose}
      />
      <TextField
        label="ID of the file"
        path="config.signals"
        placeholder="sg-…"
        help="Set by the fields before it. A file that another user shared with you has no entry there"
        value={value}
        onChange={choose}
      />
      <UploadStatus upload={upload} value={value} />
      <details className="signals-columns">
        <summary>Columns of a file</summary>
        <dl className="defs">
          {columns.all.map((name) => (
            <div key={name} className="def">
              <dt>
                <code>{name}</code>
              </dt>
              <dd>{COLUMN_TEXTS[name]}</dd>
            </div>
          ))}
        </dl>
        <p className="muted">
          A row says what is known when its candle has closed, and acts at the open of the next one. Do not
          shift the columns. Another column is an error. More: <code>docs/signals.md</code>
        </p>
      </details>
    </div>
  );
}

/** Its height is fixed, so that nothing moves when the upload begins. */
function UploadStatus(props: { readonly upload: SignalsUpload; readonly value: string | undefined }) {
  const { upload, value } = props;
  const { variables: file, sent, data } = upload;
  const isShown = !upload.isPending && data !== undefined && data.created.signals_id === value;
  return (
    <div className="signals-status" role="status">
      {upload.isPending && file && (
        <>
          <Progress value={sent} label={`Upload of ${file.name}`} />
          <span className="field-help">
            {sent === undefined ? `${file.name} is read` : `${file.name}: ${decimal(sent * 100, 0)} % sent`}
          </span>
        </>
      )}
      {isShown && <span className="field-help">{uploadedText(file!.name, data)}</span>}
    </div>
  );
}

function uploadedText(name: string, { created, facts }: Upload): string {
  const size = sizeText(created.bytes);
  if (!facts) {
    return `${name} is uploaded: ${size}. Choose its pairs, its timeframe and the day of its first row above.`;
  }
  return `${name} is uploaded: ${size}, ${formatCount(facts.rows, 'row')}, ${formatCount(facts.pairs.length, 'pair')}. Pairs and start above are those of the file; choose its timeframe.`;
}
