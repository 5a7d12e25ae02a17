/**
 * How long a container runs that nobody scripted, when its command line cannot be run here or it has none: a guess that
 * surprises least. Contract: docs/behaviour/simulation/kubelet.md, "What an image does". Pure.
 */
import type { Container, Pod } from '@gyropilot/api'

export type ContainerRole = 'init' | 'sidecar' | 'main' | 'ephemeral'

/** Their own program is a shell, which ends when nobody types, or a greeting. */
const ENDING_IMAGES =
  /^(?:alpine|amazonlinux|bash|busybox|centos|debian|fedora|hello-world|rockylinux|ubuntu)$/
/** Their own program waits for its end, whoever started it. */
const WAITING_IMAGES = /^pause$/
/** Words of scripts that wait for ever. */
const ENDLESS_SCRIPT =
  /\bwhile\s+(?:true|:|sleep)\b|\buntil\s+false\b|\bsleep\s+inf|\btail\s+-[fF]\b/

/** Official ones that name no user: their program begins as root. */
const ROOT_IMAGES =
  /^(?:caddy|golang|haproxy|httpd|mariadb|mongo|mysql|nginx|node|php|postgres|python|redis|traefik|wordpress)$/

/** Whether an image is known to run as root unless it is told otherwise. Of others nothing is known. */
export function runsAsRoot(image: string): boolean {
  const name = repositoryName(image)
  return ENDING_IMAGES.test(name) || (ROOT_IMAGES.test(name) && isOfficial(image))
}

function isOfficial(image: string): boolean {
  return /^(?:docker\.io\/)?(?:library\/)?[^/]+$/.test(image)
}

/** Whether it runs until it is stopped. */
export function isEndless(pod: Pod, container: Container, role: ContainerRole): boolean {
  if (role === 'sidecar') return true
  if (role === 'init') return false
  if (role === 'ephemeral')
    return waitsForever([...(container.command ?? []), ...(container.args ?? [])])
  if ((container.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always') === 'Always') return true
  const { command = [], args = [] } = container
  if (waitsForever([...command, ...args])) return true
  if (command.length > 0) return false
  const image = repositoryName(container.image ?? '')
  return WAITING_IMAGES.test(image) || !(isOfJob(pod) || ENDING_IMAGES.test(image))
}

/** 128 and the number of SIGTERM. */
const TERMINATED_EXIT_CODE = 143

/** Of one that is stopped: servers end well, what was meant to come to an end by itself has not. */
export function stoppedExitCode(pod: Pod, container: Container, role: ContainerRole): number {
  if (role === 'sidecar' || role === 'ephemeral') return 0
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always'
  return policy === 'Always' && role === 'main' ? 0 : TERMINATED_EXIT_CODE
}

/** Of a command line that cannot be run here. */
export function waitsForever(words: readonly string[]): boolean {
  return ENDLESS_SCRIPT.test(words.join(' '))
}

/** Pods of a Job are meant to end. */
function isOfJob({ metadata }: Pod): boolean {
  return (metadata?.ownerReferences ?? []).some(
    ({ kind, controller }) => kind === 'Job' && controller === true,
  )
}

/** `busybox` of `docker.io/library/busybox:1.36@sha256:...`. */
export function repositoryName(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1)
  return last.split(/[:@]/)[0]!
}
