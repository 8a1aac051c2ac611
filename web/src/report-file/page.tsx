import { Moon, Printer, Sun } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import type { ReportFileData } from '#contract/backtests/report-file.ts';
import type { Job } from '../pages/report/data.ts';
import { JobHead } from '../pages/report/job-head.tsx';
import { Report } from '../pages/report/report.tsx';
import { type ReportSearch, type ReportState, ReportStateContext } from '../pages/report/search.ts';
import { toggleTheme, useTheme } from '../ui/tokens.ts';

/** The report of a backtest without the platform: no action, and its state is kept by the page alone. */
export function FilePage({ data }: { readonly data: ReportFileData }) {
  const [search, setSearch] = useState<ReportSearch>(data.largest === null ? {} : { trade: data.largest });
  const change = useCallback<ReportState[1]>(
    (fields) => setSearch((now) => ({ ...now, ...fields }) as ReportSearch),
    [],
  );
  const state = useMemo(() => [search, change] as const, [search, change]);
  // The parts read the fields that the file has.
  const job = data.job as Job;
  return (
    <main className="page report-file">
      <ReportStateContext value={state}>
        <JobHead job={job} actions={<FileActions />} />
        <Report job={job} />
      </ReportStateContext>
      <footer className="faint">
        Made by Touchstone. This page is complete: it loads nothing from anywhere. The table of trades
        scrolls, so paper shows a part of it.
      </footer>
    </main>
  );
}

function FileActions() {
  const isDark = useTheme() === 'dark';
  const Icon = isDark ? Sun : Moon;
  return (
    <>
      <button type="button" className="btn small" onClick={() => print()}>
        <Printer aria-hidden="true" /> Print
      </button>
      <button type="button" className="btn small" onClick={toggleTheme}>
        <Icon aria-hidden="true" /> {isDark ? 'Light' : 'Dark'}
      </button>
    </>
  );
}
