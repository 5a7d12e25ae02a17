/** What is sent, and then nothing for as long as the answer takes: servers may take the end of the input for a farewell. */
export async function* untilOver(sent: Uint8Array, over: AbortSignal): AsyncGenerator<Uint8Array> {
  if (sent.length === 0) return
  yield sent
  if (over.aborted) return
  await new Promise<void>((resolve) =>
    over.addEventListener('abort', () => resolve(), { once: true }),
  )
}
