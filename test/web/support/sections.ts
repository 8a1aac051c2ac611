import type { Page } from 'playwright-core';

/** Opens the folded sections of the form of a backtest. */
export async function openSections(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open all' }).click();
}
