/**
 * One error for several: a single one stays as it is, more are listed as `[a, b]`, each text once.
 */
export function aggregateErrors(errors: readonly unknown[]): unknown {
  if (errors.length <= 1) return errors[0]
  const texts = [...new Set(errors.map(messageOf))]
  return new AggregateError(errors, texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
