import { ChartSpline, Database, GitBranch, House, ScrollText, Sparkles, Swords } from 'lucide-react';

/** Pages of the navigation, in its order. `key`, after G, opens the page. */
export const PAGES = [
  { to: '/', name: 'Home', Icon: House, key: 'h' },
  { to: '/backtests', name: 'Backtests', Icon: ChartSpline, key: 'b' },
  { to: '/strategies', name: 'Strategies', Icon: GitBranch, key: 's' },
  { to: '/hyperopt', name: 'Hyperopt', Icon: Sparkles, key: 'y' },
  { to: '/challenges', name: 'Challenges', Icon: Swords, key: 'c' },
  { to: '/data', name: 'Data', Icon: Database, key: 'd' },
  // For everybody: it says which role it needs, and the navigation is the same for all.
  { to: '/audit', name: 'Audit', Icon: ScrollText, key: 'a' },
] as const;

/** Key that makes a letter a command. */
export const COMMAND_KEY = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl';
