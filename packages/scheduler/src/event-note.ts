/** What the server takes as the note of an event. */
const MOST_BYTES = 1_024
const CUT = ' ...'

/** Contract: docs/behaviour/simulation/scheduler.md, Failure. Pure. */
export function eventNote(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= MOST_BYTES) return message
  // What is cut in two at the end is left out.
  const kept = bytes.subarray(0, MOST_BYTES - CUT.length)
  return `${new TextDecoder().decode(kept, { stream: true })}${CUT}`
}
