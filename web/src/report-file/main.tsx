import './report-file.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import type { ReportFileData } from '#contract/backtests/report-file.ts';
import { answerFrom } from '../api/client.ts';
import { createQueryClient } from '../api/queries.ts';
import { replaceInvalidLanguage } from '../ui/locale.ts';
import { placePopovers } from '../ui/place-popovers.ts';
import { ErrorState } from '../ui/states.tsx';
import { fitToPaper } from './paper.ts';
import { sourceOf } from './source.ts';

// Before the page and its charts are evaluated.
replaceInvalidLanguage();
fitToPaper();
placePopovers();
const root = createRoot(document.getElementById('root')!);

/** The data of the file: base64 of their JSON, compressed with gzip. */
async function readData(): Promise<ReportFileData> {
  const bytes = Uint8Array.from(atob(document.getElementById('data')!.textContent), (c) => c.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(json).json()) as ReportFileData;
}

async function start(): Promise<void> {
  const [data, { FilePage }] = await Promise.all([readData(), import('./page.tsx')]);
  answerFrom(sourceOf(data));
  root.render(
    <QueryClientProvider client={createQueryClient(() => {})}>
      <FilePage data={data} />
    </QueryClientProvider>,
  );
}

start().catch(() => {
  root.render(
    <ErrorState error={new Error('The file is damaged or incomplete. Export the report again.')} />,
  );
});
