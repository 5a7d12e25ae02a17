/** Reads an answer to its end, unless it is larger than it may be. */
export async function readLimited(
  body: AsyncIterable<Uint8Array>,
  largestBytes: number,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > largestBytes) throw new Error('http: response body too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
