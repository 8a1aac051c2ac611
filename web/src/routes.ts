import { createRootRoute } from '@tanstack/react-router';
import { UnknownPage } from './pages/unknown/unknown-page.tsx';
import { Shell } from './ui/shell.tsx';
import { PageError } from './ui/states.tsx';

/** Parent of every page. */
export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: UnknownPage,
  errorComponent: PageError,
});
