import { useCall } from '../../api/queries.ts';

/** Attributes of a button that needs the role researcher: disabled with the reason for a caller without it. */
export function useResearchButton(): { readonly disabled: boolean; readonly title?: string } {
  const { data } = useCall('getMe', {});
  const mayNot = data !== undefined && !data.roles.includes('researcher');
  return mayNot ? { disabled: true, title: 'Needs the role researcher' } : { disabled: false };
}
