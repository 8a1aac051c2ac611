import { formatCount } from '#contract/values/format-count.ts';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { sizeText } from '../../ui/format.ts';
import { Age, Panel, Progress, Status } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useDataSearch } from './search.ts';

type Item = ResponseOf<'listImports'>['items'][number];

export const isMoving = ({ status }: Pick<Item, 'status'>) =>
  status === 'previewing' || status === 'importing';

/** The API lists up to 60. */
const ITEMS_SHOWN = 60;

/** Words of other lists for the same thing. */
const WORDS: Readonly<Record<Item['status'], string>> = {
  receiving: 'receiving',
  previewing: 'running',
  previewed: 'previewed',
  importing: 'running',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

const COLUMNS: readonly Column<Item>[] = [
  { key: 'status', title: 'Status', cell: ({ status }) => <Status status={WORDS[status]} /> },
  {
    key: 'files',
    title: 'Files',
    cell: ({ files, bytes }) => `${formatCount(files, 'file')}, ${sizeText(bytes)}`,
  },
  {
    key: 'progress',
    title: 'Progress',
    cell: ({ status, progress }) =>
      status === 'importing' || status === 'previewing' ? (
        <Progress value={progress ?? undefined} label="Progress of an import" />
      ) : null,
  },
  { key: 'created', title: 'Begun', cell: ({ created_at }) => <Age at={created_at} /> },
];

/** Imports of files: those that run, those that wait for their user, and the last that ended. Nothing without any. */
export function ImportsPanel({ most = ITEMS_SHOWN }: { readonly most?: number }) {
  const [search, change] = useDataSearch();
  const query = useCall('listImports', {}, { isMoving: ({ items }) => items.some(isMoving) });
  const items = query.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Panel title="Imports">
      <div className="list">
        <Table
          rows={items.slice(0, most)}
          columns={COLUMNS}
          idOf={({ import_id }) => import_id}
          label="List of imports"
          isSorted
          selected={search.import}
          onPick={({ import_id }) => change({ import: import_id })}
        />
      </div>
    </Panel>
  );
}
