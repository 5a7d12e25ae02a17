/**
 * The Pod Security Standards, version by version: what `baseline` forbids and what `restricted` asks for besides. Each check
 * answers nothing, or its reason and what in the pod it is about.
 */
import type { Stored } from '../../registry/kind-rules.ts'
import * as baseline from './baseline-checks.ts'
import * as restricted from './restricted-checks.ts'
import type { Check, Violation } from './violations.ts'

const LATEST_MINOR = Number.MAX_SAFE_INTEGER

interface VersionedCheck {
  readonly check: Check
  /** The minor version of 1 that brought it; absent: the first. */
  readonly since?: number
  /** The version that does without it. */
  readonly until?: number
  /** The version since when `restricted` has a stricter one instead. */
  readonly replacedSince?: number
}

/** In the order in which violations are listed. */
const BASELINE: readonly VersionedCheck[] = [
  { check: baseline.appArmorProfile },
  { check: baseline.baselineCapabilities, replacedSince: 22 },
  { check: baseline.hostNamespaces },
  { check: baseline.hostPathVolumes, replacedSince: 0 },
  { check: baseline.hostPorts },
  { check: baseline.askedHosts, since: 34 },
  { check: baseline.privileged },
  { check: baseline.procMount, replacedSince: 35 },
  { check: baseline.seLinuxOptions },
  { check: baseline.annotatedSeccomp, until: 19 },
  { check: baseline.baselineSeccomp, since: 19, replacedSince: 19 },
  { check: baseline.sysctls },
  { check: baseline.windowsHostProcess },
]
const RESTRICTED: readonly VersionedCheck[] = [
  { check: restricted.allowPrivilegeEscalation, since: 8 },
  { check: restricted.restrictedCapabilities, since: 22 },
  { check: baseline.anyProcMount, since: 35 },
  { check: restricted.restrictedVolumes },
  { check: restricted.runAsNonRoot },
  { check: restricted.runAsUser, since: 23 },
  { check: restricted.restrictedSeccomp, since: 19 },
]

export type Level = 'privileged' | 'baseline' | 'restricted'

/** A level as of a version: `latest`, or `v1.` and a number. */
export interface Standard {
  readonly level: Level
  readonly version: string
}

export function violationsOf(
  { level, version }: Standard,
  metadata: Stored,
  spec: Stored,
): Violation[] {
  if (level === 'privileged') return []
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec
  const minor = version === 'latest' ? LATEST_MINOR : Number(version.slice('v1.'.length))
  const pod = {
    metadata,
    spec,
    containers: [...initContainers, ...containers, ...ephemeralContainers],
    minor,
  }
  const isRestricted = level === 'restricted'
  return [...BASELINE, ...(isRestricted ? RESTRICTED : [])].flatMap((entry) => {
    const { check, since = 0, until = Infinity, replacedSince = Infinity } = entry
    if (minor < since || minor >= until || (isRestricted && minor >= replacedSince)) return []
    return check(pod) ?? []
  })
}

/** `privileged (container "a" must not set securityContext.privileged=true), ...` */
export function describeViolations(violations: readonly Violation[]): string {
  return violations
    .map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`))
    .join(', ')
}
