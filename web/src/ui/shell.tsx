import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Activity, Link2, Menu, Moon, Sun } from 'lucide-react';
import { useId, useRef } from 'react';
import { webConfig } from '../api/config.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { PAGES } from './navigation.ts';
import { CopyButton } from './parts.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { BanneredContext } from './states.tsx';
import { toggleTheme, useTheme } from './tokens.ts';
import { UserMenu } from './user-menu.tsx';

/** Navigation, bar and the page; the sign-in has no pages to go to. */
export function Shell() {
  const { pathname } = useLocation();
  return (
    <BanneredContext value={true}>
      {pathname === '/sign-in' ? (
        <SignInShell />
      ) : (
        <div className="shell">
          <SkipLink />
          <Navigation />
          <div className="main">
            <header className="top">
              <Shortcuts />
              {/* Known last, so it is first: it moves nothing. */}
              <UserMenu />
              <CopyButton text={() => location.href} label="Copy link" kind="plain" Icon={Link2} />
              <ThemeButton />
            </header>
            <ConnectionBanner />
            <main id="page" className="page" tabIndex={-1}>
              <Outlet />
            </main>
          </div>
        </div>
      )}
    </BanneredContext>
  );
}

function SkipLink() {
  return (
    <a className="btn skip" href="#page">
      Skip to the page
    </a>
  );
}

function SignInShell() {
  return (
    <div className="sign-in">
      <SkipLink />
      <header className="sign-in-head">
        <span className="brand">
          <Activity aria-hidden="true" />
          <span>Touchstone</span>
        </span>
        <ThemeButton />
      </header>
      <ConnectionBanner />
      <main id="page" className="page" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

/** The pages: a column, on a small screen a list that a button opens. */
function Navigation() {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const { stage, version, exchange } = webConfig();
  const close = () => {
    if (list.current?.matches(':popover-open')) list.current.hidePopover();
  };
  return (
    <nav className="side" aria-label="Pages">
      <Link to="/" className="brand" aria-label="Touchstone">
        <Activity aria-hidden="true" />
        <span>Touchstone</span>
      </Link>
      <button type="button" className="btn plain icon side-open" popoverTarget={id} aria-label="Pages">
        <Menu aria-hidden="true" />
      </button>
      <div id={id} ref={list} popover="auto" className="side-pages">
        {PAGES.map(({ to, name, Icon }) => (
          <Link key={to} to={to} className="nav" activeOptions={{ exact: to === '/' }} onClick={close}>
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
      </div>
    </nav>
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
