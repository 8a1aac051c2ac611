import { useSyncExternalStore } from 'react';

const NAMES = [
  'bg',
  'surface',
  'raised',
  'line',
  'line-strong',
  'text',
  'muted',
  'faint',
  'accent',
  'link',
  'up',
  'down',
  'warn',
  'grid',
  'series-1',
  'series-2',
  'series-3',
  'series-4',
  'series-5',
  'series-6',
] as const;

/** Colours of the theme. A canvas knows no CSS variables: charts read these and are drawn anew when the theme changes. */
export type Tokens = Readonly<Record<(typeof NAMES)[number], string>>;

export type Theme = 'dark' | 'light';

const THEME_KEY = 'touchstone.theme';
const light = matchMedia('(prefers-color-scheme: light)');
const listeners = new Set<() => void>();
let tokens: Tokens | undefined;

light.addEventListener('change', forget);

function forget(): void {
  tokens = undefined;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): Tokens {
  const style = getComputedStyle(document.documentElement);
  // light-dark(#fff, #000) names both colours; a build replaces it by variables that have chosen one.
  const index = currentTheme() === 'light' ? 0 : 1;
  return Object.fromEntries(
    NAMES.map((name) => {
      const colors = style.getPropertyValue(`--${name}`).match(/#\w+/g)!;
      return [name, colors[index] ?? colors[0]];
    }),
  ) as Tokens;
}

/** Colours of the current theme. */
export function useTokens(): Tokens {
  return useSyncExternalStore(subscribe, () => {
    tokens ??= read();
    return tokens;
  });
}

/** The chosen theme, else the system's. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'dark' || chosen === 'light') return chosen;
  return light.matches ? 'light' : 'dark';
}

/** Applies the theme of the last visit; without one the system's choice holds. */
export function restoreTheme(): void {
  const stored = localStorage.getItem(THEME_KEY);
  if (stored === 'dark' || stored === 'light') document.documentElement.dataset.theme = stored;
}

export function toggleTheme(): void {
  const next: Theme = currentTheme() === 'light' ? 'dark' : 'light';
  document.documentElement.dataset.theme = next;
  localStorage.setItem(THEME_KEY, next);
  forget();
}
