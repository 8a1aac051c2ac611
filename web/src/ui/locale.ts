/**
 * Replaces a language that Intl rejects. Chromium reports `en-US@posix` in the POSIX locale, and uPlot formats with it when it
 * is loaded, so no page with a chart would open.
 */
export function replaceInvalidLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
  }
}
