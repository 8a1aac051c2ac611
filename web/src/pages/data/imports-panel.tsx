import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
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

const STORED = ['getCoverage', 'getDataStatus', 'getSeries', 'listSeries'] as const;
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

/** Loads what is stored again when an import ends. @param importing number of those that store candles */
export function useRefreshOfStored(importing: number | undefined): void {
  const client = useQueryClient();
  const before = useRef(importing);
  useEffect(() => {
    if (before.current !== undefined && importing !== undefined && importing < before.current) {
      for (const each of STORED) void client.invalidateQueries({ queryKey: [each] });
    }
    before.current = importing;
  }, [client, importing]);
}

/** Imports of files: those that run, those that wait for their user, and the last that ended. Nothing without any. */
export function ImportsPanel({ most = ITEMS_SHOWN }: { readonly most?: number }) {
  const [search, change] = useDataSearch();
  const query = useCall('listImports', {}, { isMoving: ({ items }) => items.some(isMoving) });
  const items = query.data?.items ?? [];
  useRefreshOfStored(query.data?.items.filter(({ status }) => status === 'importing').length);
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
