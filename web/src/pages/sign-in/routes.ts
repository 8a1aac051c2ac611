import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';

interface SignInSearch {
  /** Path to which the sign-in leads. */
  readonly to?: string;
  /** Parameters of the identity provider's response. */
  readonly code?: string;
  readonly state?: string;
  readonly error?: string;
}

const NAMES = ['to', 'code', 'state', 'error'] as const;

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    // A provider's parameters are text, also where they look like numbers.
    validateSearch: (search: Record<string, unknown>): SignInSearch =>
      Object.fromEntries(
        NAMES.filter((name) => search[name] !== undefined).map((name) => [name, String(search[name])]),
      ),
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
] as const;
