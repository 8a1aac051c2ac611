import './theme.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadConfig } from './api/config.ts';
import { startLive } from './api/live.ts';
import { createQueryClient, queryOf } from './api/queries.ts';
import { takeTokenFromAddress } from './auth/pasted-token.ts';
import { startSession } from './auth/session.ts';
import { router } from './router.tsx';
import { replaceInvalidLanguage } from './ui/locale.ts';
import { placePopovers } from './ui/place-popovers.ts';
import { ErrorState } from './ui/states.tsx';
import { restoreTheme } from './ui/tokens.ts';

takeTokenFromAddress();
replaceInvalidLanguage();
restoreTheme();
placePopovers();
const root = createRoot(document.getElementById('root')!);

/** Waits for the font for at most a second: text that changes its width later would move the page. */
async function loadFont(): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, 1_000));
  await Promise.race([document.fonts.load("14px 'Inter Variable'"), timeout]);
}

try {
  await Promise.all([loadConfig(), loadFont()]);
  await startSession();
  const client = createQueryClient(askForSignIn);
  startLive(client, async () => JSON.stringify(await client.ensureQueryData(queryOf('getMe', {}))));
  root.render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
} catch (error) {
  root.render(<ErrorState error={error as Error} onRetry={() => location.reload()} />);
}

/** Leads to the sign-in, and from there back to this page. */
function askForSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname !== '/sign-in') void router.navigate({ to: '/sign-in', search: { to: href }, replace: true });
}
