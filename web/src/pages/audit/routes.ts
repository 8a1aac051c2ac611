import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { readAuditSearch } from './search.ts';

export const auditRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/audit',
    validateSearch: readAuditSearch,
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
] as const;
