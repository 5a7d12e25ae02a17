import { TurnGate, settle } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

/** Some milliseconds of work. */
const REQUESTS_PER_TURN = 32

/**
 * Requests that arrived in one turn of the event loop are answered together: 16 connections that create pods have half as many again
 * answered as when each request is worked on as it is read. A lone one waits for the end of the turn, some ten microseconds.
 */
export function gatheredRequests(clock: Clock): TurnGate {
  return new TurnGate({ clock, nextTurn: settle, perTurn: REQUESTS_PER_TURN, gathers: true })
}
