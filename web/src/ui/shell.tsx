import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Activity, Link2, Moon, Sun } from 'lucide-react';
import { useEffect } from 'react';
import { webConfig } from '../api/config.ts';
import { PAGES } from './navigation.ts';
import { CopyButton } from './parts.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { toggleTheme, useTheme } from './tokens.ts';
import { UserMenu } from './user-menu.tsx';

/** Navigation, bar and the page. */
export function Shell() {
  const { pathname } = useLocation();
  // On a small screen the pages are a row that scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another link
  useEffect(() => {
    document.querySelector('.side .active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  const { stage, version, exchange } = webConfig();
  return (
    <div className="shell">
      <a className="btn skip" href="#page">
        Skip to the page
      </a>
      <nav className="side" aria-label="Pages">
        <Link to="/" className="brand">
          <Activity aria-hidden="true" />
          <span>Touchstone</span>
        </Link>
        {PAGES.map(({ to, name, Icon }) => (
          <Link key={to} to={to} className="nav" activeOptions={{ exact: to === '/' }}>
            <Icon aria-hidden="true" />
            {name}
          </Link>
        ))}
        <div className="side-foot">
          <span>
            {stage} · {exchange}
          </span>
          <span>Version {version}</span>
        </div>
      </nav>
      <div className="main">
        <header className="top">
          <Shortcuts />
          {/* Known last, so it is first: it moves nothing. */}
          <UserMenu />
          <CopyButton text={() => location.href} label="Copy link" kind="plain" Icon={Link2} />
          <ThemeButton />
        </header>
        <main id="page" className="page" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  );
}

function ThemeButton() {
  const isDark = useTheme() === 'dark';
  const Icon = isDark ? Sun : Moon;
  return (
    <button
      type="button"
      className="btn icon plain"
      onClick={toggleTheme}
      aria-label={isDark ? 'Light theme' : 'Dark theme'}
    >
      <Icon aria-hidden="true" />
    </button>
  );
}
