import './audit.css';
import OPERATIONS_BY_ID from 'virtual:operations';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Ban, CheckCircle2, CircleHelp, Download, Lock, XCircle } from 'lucide-react';
import { ROUTINE_OPERATIONS } from '#contract/values/audit-routine.ts';
import { useCall } from '../../api/queries.ts';
import { useDenial } from '../../auth/act.tsx';
import { decimal, NO_VALUE } from '../../ui/format.ts';
import { FilterSelect, PageLinks, SearchBox } from '../../ui/job-list.tsx';
import { PageHead, Panel, Time } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { EntryPanel } from './entry-panel.tsx';
import { CSV_ROWS, saveCsv } from './save-csv.ts';
import { type AuditEntry, type AuditSearch, auditQuery, OUTCOMES } from './search.ts';

const OUTCOME_LOOKS = {
  succeeded: { Icon: CheckCircle2, tone: 'up' },
  refused: { Icon: Ban, tone: 'warn' },
  failed: { Icon: XCircle, tone: 'down' },
  unknown: { Icon: CircleHelp, tone: undefined },
} as const;

function Outcome({ outcome }: { readonly outcome: AuditEntry['outcome'] }) {
  const { Icon, tone } = OUTCOME_LOOKS[outcome];
  return (
    <span className="badge" data-tone={tone}>
      <Icon aria-hidden="true" /> <span className="status-word">{outcome}</span>
    </span>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { key: 'at', title: 'Time', width: 194, cell: ({ at }) => <Time at={at} hasSeconds /> },
  { key: 'outcome', title: 'Outcome', width: 122, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
  { key: 'operation', title: 'Operation', width: 160, cell: ({ operation }) => operation },
  {
    key: 'principal',
    title: 'Who',
    width: 150,
    cell: ({ principal, roles }) => <span title={roles.join(', ')}>{principal}</span>,
  },
  {
    key: 'model',
    title: 'Model',
    width: 140,
    cell: ({ model_name }) => (model_name === null ? NO_VALUE : <span title={model_name}>{model_name}</span>),
  },
  { key: 'version', title: 'Version', width: 72, cell: ({ version }) => version ?? NO_VALUE },
  {
    key: 'resource',
    title: 'Resource',
    width: 240,
    cell: ({ resource: { kind, id } }) => (
      <span title={id ?? undefined}>
        {kind} <code>{id}</code>
      </span>
    ),
  },
  { key: 'code', title: 'Code', width: 90, cell: ({ code }) => code ?? NO_VALUE },
];

type Change = { readonly [K in keyof AuditSearch]?: AuditSearch[K] | undefined };

/** Operations that are recorded: those that can change something. */
const OPERATIONS = Object.entries(OPERATIONS_BY_ID)
  .filter(([, [, method]]) => method !== 'GET')
  .map(([id]) => id)
  .sort();

const route = getRouteApi('/audit');

/** Every call that can change state, newest first. */
export function AuditPage() {
  const denial = useDenial('listAudit');
  return (
    <>
      <PageHead title="Audit" />
      {denial ? (
        <Panel title="Calls">
          <div className="state" role="alert">
            <Lock aria-hidden="true" />
            <p className="state-title">{denial}</p>
            <p className="muted">The audit trail shows what everybody did. Ask an admin for the role.</p>
          </div>
        </Panel>
      ) : (
        <AuditTrail />
      )}
    </>
  );
}

/** The calls, newest first. Long because it is the markup of the page: filters, table and selected entry. */
function AuditTrail() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { entry, cursor, ...narrowing } = search;
  const query = useCall(
    'listAudit',
    { query: { ...auditQuery(search), cursor, limit: 50 } },
    { keepPrevious: true },
  );
  /** Other filters are another list: it starts at its first page. */
  const change = (next: Change) =>
    void navigate({
      search: ({ cursor: _, entry: __, ...before }) => ({ ...before, ...next }) as AuditSearch,
      replace: true,
    });
  const isFiltered = Object.keys(narrowing).some((name) => name !== 'routine');
  const selected = query.data?.items.find(({ id }) => id === entry);
  return (
    <>
      <Panel
        title="Calls"
        actions={
          <>
            <Filters search={search} onChange={change} />
            <RoutineSwitch isOn={search.routine ?? false} onChange={change} />
            <CsvButton search={search} />
          </>
        }
      >
        <Loaded query={query} skeleton={<Skeleton rows={12} />}>
          {(page) => (
            <>
              {page.items.length === 0 ? (
                <Empty title={emptyTitle(isFiltered, page.next_cursor !== null)}>
                  {isFiltered
                    ? 'Without a range, the last seven days are searched; a range has up to 31 days.'
                    : 'Calls of the last seven days are listed here; choose a range for older ones.'}
                </Empty>
              ) : (
                <div className="list audit-list">
                  <Table
                    label="Audit trail"
                    rows={page.items}
                    columns={COLUMNS}
                    idOf={({ id }) => id}
                    selected={entry}
                    onPick={({ id }) =>
                      void navigate({
                        search: (before) => ({ ...before, entry: id }),
                        replace: true,
                        resetScroll: false,
                      })
                    }
                  />
                </div>
              )}
              <PageLinks
                page={page}
                cursor={cursor}
                onCursor={(next) => change({ ...narrowing, cursor: next })}
              />
            </>
          )}
        </Loaded>
      </Panel>
      {selected && (
        <EntryPanel
          key={selected.id}
          entry={selected}
          onClose={() =>
            void navigate({
              search: ({ entry: _, ...before }) => before,
              replace: true,
              resetScroll: false,
            })
          }
        />
      )}
    </>
  );
}

function emptyTitle(isFiltered: boolean, hasMore: boolean): string {
  if (hasMore) return 'None in this part: older calls are on the next page';
  return isFiltered ? 'No call passes these filters' : 'No call was recorded';
}

function Filters(props: { readonly search: AuditSearch; readonly onChange: (next: Change) => void }) {
  const { search, onChange } = props;
  return (
    <div className="filters audit-filters">
      <input
        type="date"
        aria-label="From, UTC day"
        title="From, UTC day"
        max={search.to}
        value={search.from ?? ''}
        onChange={({ target }) => onChange({ from: target.value || undefined })}
      />
      <input
        type="date"
        aria-label="To, UTC day, inclusive"
        title="To, UTC day, inclusive"
        min={search.from}
        value={search.to ?? ''}
        onChange={({ target }) => onChange({ to: target.value || undefined })}
      />
      <SearchBox
        label="Who"
        placeholder="Who"
        value={search.principal}
        onChange={(principal) => onChange({ principal })}
      />
      <SearchBox
        label="Model or resource id"
        placeholder="Model or id"
        value={search.resource}
        onChange={(resource) => onChange({ resource })}
      />
      <FilterSelect
        label="Operation"
        all="All operations"
        values={OPERATIONS}
        value={search.operation}
        onChange={(operation) => onChange({ operation })}
      />
      <FilterSelect
        label="Outcome"
        all="Every outcome"
        values={OUTCOMES}
        value={search.outcome}
        onChange={(outcome) => onChange({ outcome })}
      />
    </div>
  );
}

function RoutineSwitch({
  isOn,
  onChange,
}: {
  readonly isOn: boolean;
  readonly onChange: (next: Change) => void;
}) {
  return (
    <button
      type="button"
      className="btn small"
      aria-pressed={isOn}
      title={`With the calls of programs that come all the time: ${ROUTINE_OPERATIONS.join(', ')}`}
      onClick={() => onChange({ routine: isOn ? undefined : true })}
    >
      Routine calls
    </button>
  );
}

/** Saves what the filters select, on all pages. */
function CsvButton({ search }: { readonly search: AuditSearch }) {
  const save = useMutation({ mutationFn: () => saveCsv(search) });
  return (
    <button
      type="button"
      className="btn small"
      title={`Up to ${decimal(CSV_ROWS, 0)} calls`}
      disabled={save.isPending}
      onClick={() => save.mutate()}
    >
      <Download aria-hidden="true" />{' '}
      <span aria-live="polite">{save.isError ? 'Not saved' : save.isPending ? 'Reading' : 'CSV'}</span>
    </button>
  );
}
