/** One line on a terminal that is written over and over; nothing where nobody looks, or where it cannot be written over. */
export interface ProgressLine {
  show(text: string): void
  clear(): void
}

export function progressLine(stream: NodeJS.WriteStream, isDumb: boolean): ProgressLine {
  if (!stream.isTTY || isDumb) return { show() {}, clear() {} }
  let shownMs = -Infinity
  return {
    show(text) {
      const nowMs = performance.now()
      if (nowMs - shownMs < 100) return
      shownMs = nowMs
      stream.write(`\r\x1b[K${text.slice(0, (stream.columns ?? 80) - 1)}`)
    },
    clear() {
      stream.write('\r\x1b[K')
    },
  }
}
