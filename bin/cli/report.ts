import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { ExportLink } from '#contract/backtest-export.ts';
import type { PlatformOptions } from '../../src/local/platform-options.ts';
import type { ApiClient } from './client.ts';
import { sessionWith } from './session.ts';

/** Limit of a file, which may be large and come from another host. */
const FILE_TIMEOUT_MS = 5 * 60_000;

export function addReportCommand(program: Command): void {
  const session = sessionWith(program, 'backend', openDashboard);
  program
    .command('report')
    .description('save the report of a completed backtest as one page that opens without a network')
    .argument('<job-id>', 'id of the backtest (see: touchstone jobs)')
    .requiredOption('--html', 'as a page for a browser')
    .option('--out <file>', 'file to write; an existing one is replaced (default: <job-id>.html)')
    .action((jobId: string, { out = `${jobId}.html` }: { readonly out?: string }) =>
      session(({ client }) => saveReport(client, jobId, out)),
    );
}

/** The report's page is part of the dashboard: a platform that is started for the command reads it, or builds it in 3 s. */
async function openDashboard(): Promise<Partial<PlatformOptions>> {
  const { Dashboard } = await import('../dashboard.ts');
  const dashboard = new Dashboard();
  await dashboard.open();
  return { dashboard: dashboard.state };
}

/** Saves the report as a page. Throws ApiError, or an error that says why the file could not be read or written. */
async function saveReport(client: ApiClient, jobId: string, out: string): Promise<void> {
  const path = `/api/v1/backtests/${encodeURIComponent(jobId)}/export?format=html`;
  const exported = await client.open(path, {}, AbortSignal.timeout(FILE_TIMEOUT_MS));
  const page = Buffer.from(await (exported.status === 201 ? linked(exported) : exported.arrayBuffer()));
  // Complete or not at all: a page that is cut off opens and says that it is damaged.
  const draft = `${out}.${randomUUID()}`;
  try {
    await writeFile(draft, page);
    await rename(draft, out);
  } catch (error) {
    await rm(draft, { force: true });
    throw new Error(`${out} cannot be written: ${(error as Error).message}. Choose another file with --out.`);
  }
  console.log(`Saved ${out}, ${Math.ceil(page.length / 1_000)} KB. Open it in a browser.`);
}

/** The file at the address that the service offers, which takes no token. */
async function linked(response: Response): Promise<ArrayBuffer> {
  const link = (await response.json()) as ExportLink;
  const file = await fetch(new URL(link.url, response.url), { signal: AbortSignal.timeout(FILE_TIMEOUT_MS) });
  if (!file.ok) throw new Error(`The report could not be read: HTTP status ${file.status}. Try again.`);
  return file.arrayBuffer();
}
