import { BadgeCheck } from 'lucide-react';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Age } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { VERSION_COLUMNS } from '../../ui/version-columns.tsx';
import { RegisterBacktest } from '../report/register-backtest.tsx';

type Backtest = ResponseOf<'listBacktests'>['items'][number];
type Row = Backtest & { readonly metrics: NonNullable<Backtest['result']> };

/** Backtests to choose from, newest first; others are registered from their report. */
const LIMIT = 20;

const COLUMNS: readonly Column<Row>[] = [
  { key: 'created', title: 'Backtest', cell: ({ created_at }) => <Age at={created_at} /> },
  ...VERSION_COLUMNS,
  {
    key: 'market',
    title: 'Market',
    cell: ({ experiment_name, timeframe, pairs }: Row) =>
      [experiment_name, timeframe, pairs.length === 1 ? pairs[0] : `${pairs.length} pairs`]
        .filter(Boolean)
        .join(' · '),
  },
];

/** Button that registers one of the newest backtests of a strategy as its next version. */
export function RegisterVersion({ name }: { readonly name: string }) {
  const [chosen, setChosen] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    setChosen(undefined);
  };
  return (
    <>
      <ActButton operation="registerStrategy" onClick={() => setOpen(true)}>
        <BadgeCheck aria-hidden="true" /> Register a backtest
      </ActButton>
      {isOpen &&
        (chosen === undefined ? (
          <Choice name={name} onChoose={setChosen} onClose={close} />
        ) : (
          <RegisterBacktest id={chosen} onClose={close} />
        ))}
    </>
  );
}

function Choice(props: {
  readonly name: string;
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}) {
  const { name, onChoose, onClose } = props;
  const query = useCall('listBacktests', { query: { strategy: name, status: 'completed', limit: LIMIT } });
  return (
    <Dialog title={`Register a backtest of ${name}`} onClose={onClose}>
      <p className="muted pad">Choose the backtest: the next dialog has its thresholds.</p>
      <Loaded query={query} skeleton={<Skeleton rows={6} />}>
        {({ items }) => {
          const rows = items.flatMap((each) => (each.result ? [{ ...each, metrics: each.result }] : []));
          return rows.length === 0 ? (
            <Empty title="No backtest is completed">Run one first: Backtests, New backtest.</Empty>
          ) : (
            <Table
              label="Newest backtests"
              rows={rows}
              columns={COLUMNS}
              idOf={({ job_id }) => job_id}
              onPick={({ job_id }) => onChoose(job_id)}
            />
          );
        }}
      </Loaded>
    </Dialog>
  );
}
