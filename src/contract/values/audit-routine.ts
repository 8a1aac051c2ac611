/**
 * Operations that programs call all the time: a trading system for each trade, the import page for each file. `listAudit` leaves them
 * out on request.
 */
export const ROUTINE_OPERATIONS: readonly string[] = ['assignKey', 'logTrades', 'previewImport'];
