import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useId, useRef } from 'react';
import { download } from '../../api/download.ts';

const FORMATS = [
  ['csv', 'Trades as CSV'],
  ['parquet', 'Trades as Parquet'],
  ['orders', 'Orders as CSV'],
  ['html', 'Report as one page'],
  ['json', 'Report as JSON'],
] as const;

/** Formats in which the backtest can be saved. */
export function ExportMenu({ id }: { readonly id: string }) {
  const menu = useId();
  const popover = useRef<HTMLDivElement>(null);
  const save = useMutation({
    mutationFn: (format: (typeof FORMATS)[number][0]) =>
      download('exportBacktest', { params: { job_id: id }, query: { format } }),
  });
  return (
    <>
      <button type="button" className="btn small" popoverTarget={menu} disabled={save.isPending}>
        <Download aria-hidden="true" /> {save.isPending ? 'Exporting' : 'Export'}
      </button>
      <div id={menu} ref={popover} popover="auto" className="pop report-menu">
        {FORMATS.map(([format, title]) => (
          <button
            key={format}
            type="button"
            className="btn small plain"
            onClick={() => {
              popover.current?.hidePopover();
              save.mutate(format);
            }}
          >
            {title}
          </button>
        ))}
      </div>
      {save.error && (
        <span role="alert" className="down">
          {save.error.message}
        </span>
      )}
    </>
  );
}
