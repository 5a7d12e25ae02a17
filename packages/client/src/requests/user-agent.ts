/** What `userAgent` is made of; empty parts become `unknown`. */
export interface UserAgentParts {
  /** Base name of argv[0]. Servers take the field manager from it: it stays `kube-controller-manager` there. */
  readonly program: string
  /** `v1.36.2-3+abc`: only what is before the first `-` is told. */
  readonly version: string
  readonly os: string
  readonly arch: string
  readonly commit: string
  /** `deployment-controller`, `leader-election`. */
  readonly suffix?: string
}

/** `kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/1a2b3c4/deployment-controller`. */
export function userAgent(parts: UserAgentParts): string {
  const known = (text: string): string => (text === '' ? 'unknown' : text)
  const program = known(parts.program.split('/').at(-1) ?? '')
  const version = known(parts.version.split('-', 1)[0]!)
  const commit = known(parts.commit.slice(0, 7))
  const suffix = parts.suffix ? `/${parts.suffix}` : ''
  return `${program}/${version} (${known(parts.os)}/${known(parts.arch)}) kubernetes/${commit}${suffix}`
}

/** Go's names for Node's `process.platform` and `process.arch`. */
export function goPlatform(
  platform: string,
  arch: string,
): { readonly os: string; readonly arch: string } {
  const os = platform === 'win32' ? 'windows' : platform
  const goArch = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }[arch] ?? arch
  return { os, arch: goArch }
}
