/** What a container runs: the command line of its pod, and of its image where that is known. */
import type { Container } from '@gyropilot/api'
import { repositoryName } from './usual-run.ts'

export function isAgnhost({ image = '' }: Container): boolean {
  return repositoryName(image) === 'agnhost'
}

/** Empty: the image's own program, of which nothing is known. */
export function programOf(container: Container): readonly string[] {
  const { command, args } = container
  const entry = command ?? (isAgnhost(container) ? ['/agnhost'] : [])
  const more = args ?? (command === undefined && isAgnhost(container) ? ['pause'] : [])
  return [...entry, ...more]
}
