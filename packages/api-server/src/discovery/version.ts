import { KUBERNETES_VERSION } from '@gyropilot/api'

/** The answer of `/version`: which Kubernetes this server behaves like. */
export interface VersionInfo {
  readonly major: string
  readonly minor: string
  readonly emulationMajor: string
  readonly emulationMinor: string
  readonly minCompatibilityMajor: string
  readonly minCompatibilityMinor: string
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}

export const VERSION: VersionInfo = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: `v${KUBERNETES_VERSION}`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: 'linux/amd64',
}
