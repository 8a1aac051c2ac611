import { lazy, Suspense, useState } from 'react';
import { Panel } from '../../ui/parts.tsx';
import { Skeleton } from '../../ui/states.tsx';
import type { ReportData } from './data.ts';

const AllFigures = lazy(async () => ({ default: (await import('./all-figures.tsx')).AllFigures }));

/** Every number of the report, on request: the panels above show those that are read first. */
export function FiguresPanel(props: { readonly report: ReportData; readonly currency: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel
      title={`All figures${props.currency && `, ${props.currency}`}`}
      actions={
        <button type="button" className="btn small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'}
        </button>
      }
    >
      {isOpen && (
        <Suspense fallback={<Skeleton rows={30} />}>
          <AllFigures {...props} />
        </Suspense>
      )}
    </Panel>
  );
}
