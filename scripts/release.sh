#!/usr/bin/env bash
# Make a release: BARELINE_HOME=URL scripts/release.sh VERSION [--dry-run]
#
# URL is where the repository is published (by default that of the remote "origin"): package indices
# show the README's links and picture from there, and the package names it as its home.
#
# In a clone of HEAD: version and date are written (package, changes, citation), `make check` runs,
# wheel and source distribution are built from the tagged commit's time, so that whoever builds them
# again gets the same bytes, the wheel is installed into an empty environment and started, the
# documentation's site of this version is packed, checksums are written. Only then commit and tag come here, and the files into dist/. Nothing is pushed or uploaded;
# the last lines say how. --dry-run leaves out `make check`, commit and tag.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

version=${1:-}
dry=${2:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "give a version, such as 0.2.0"
[ -z "$dry" ] || [ "$dry" = --dry-run ] || die "unknown option $dry"
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "commit first: the tree has changes"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "v$version is there already"
grep -q "^## $version, unreleased" CHANGELOG.md ||
    die "CHANGELOG.md has no chapter '## $version, unreleased'"

"$PWD/.venv/bin/python" -c 'import material' 2>/dev/null || die "run \`make site\` once: it installs what builds the site"

here=$PWD
home=${BARELINE_HOME:-$(git remote get-url origin 2>/dev/null || true)}
home=${home%.git}
case $home in https://*) ;; *) home= && say "no published address (BARELINE_HOME): links of the README stay relative" ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$here" "$work/bareline"
cd "$work/bareline"

today=$(date -u +%F)
sed -i "s/^## $version, unreleased/## $version, $today/" CHANGELOG.md
sed -i "s/^__version__ = .*/__version__ = \"$version\"/" src/bareline/__init__.py
sed -i "s/^version = .*/version = \"$version\"/" packages/*/pyproject.toml
sed -i "s/^version: .*/version: $version/; /^date-released:/d" CITATION.cff
echo "date-released: $today" >>CITATION.cff
sed -i "s/^  version: .*/  version: \"$version\"/" packaging/conda/meta.yaml
for recipe in packaging/easybuild/bareline-*.eb; do
    sed -i "s/^version = .*/version = \"$version\"/" "$recipe"
    renamed=$(sed -E "s/bareline-[0-9.]+-/bareline-$version-/" <<<"$recipe")
    [ "$renamed" = "$recipe" ] || mv "$recipe" "$renamed"
done
git add -A
git -c user.name="$(git -C "$here" log -1 --format=%an)" -c user.email="$(git -C "$here" log -1 --format=%ae)" \
    commit -qm "bareline $version"
[ -n "$dry" ] || make check

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
tools=$work/tools
python3 -m venv "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check -r scripts/requirements-release.txt
"$tools/bin/reuse" --suppress-deprecation lint -q || die "\`reuse lint\` finds files without a licence"
mkdir -p dist
for pins in requirements requirements-tests requirements-checks requirements-clouds; do
    "$tools/bin/pip-compile" -q --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate --strip-extras \
        --allow-unsafe -o "dist/bareline-$version-$pins.txt" "scripts/$pins.txt"
done
if [ -n "$home" ]; then # in this clone only: what is packed, not what is committed
    printf '\n[project.urls]\nHomepage = "%s"\nChanges = "%s"\n' "$home" "$home/blob/v$version/CHANGELOG.md" >>pyproject.toml
    sed -i -E "s#(!\[[^]]*\]\()([^):]+\))#\1$home/raw/v$version/\2#g; s#(^|[^!])(\[[^]]*\]\()([^):\#]+\))#\1\2$home/blob/v$version/\3#g" README.md
fi
say "building wheel and source distribution"
"$here/.venv/bin/python" -m hatchling build -d dist >/dev/null
(cd packages/bareline-contrib && "$here/.venv/bin/python" -m hatchling build -d "$work/bareline/dist" >/dev/null)
python3 -m venv "$work/empty"
"$work/empty/bin/pip" install -q --disable-pip-version-check dist/*.whl
said=$(cd / && "$work/empty/bin/bareline" --version)
[ "$said" = "bareline $version" ] || die "the wheel says '$said'"
(cd / && "$work/empty/bin/bareline" studies >/dev/null)
"$tools/bin/cyclonedx-py" environment "$work/empty/bin/python" --pyproject pyproject.toml \
    --output-reproducible -o "dist/bareline-$version-sbom.json" >/dev/null
git checkout -q -- README.md pyproject.toml
say "building the documentation's site"
PYTHONPATH=src NO_MKDOCS_2_WARNING=1 "$here/.venv/bin/python" -m mkdocs build --strict --site-dir "$work/bareline-$version-docs"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -cf - "bareline-$version-docs" |
    gzip -n >"dist/bareline-$version-docs.tar.gz"
(cd dist && sha256sum -- *.whl *.tar.gz *.txt *.json >SHA256SUMS)

mkdir -p "$here/dist"
cp dist/* "$here/dist/"
if [ -n "$dry" ]; then
    say "tried: dist/ has what a release would be made of; nothing is committed or tagged"
    exit 0
fi
cd "$here"
git pull -q --ff-only "$work/bareline" HEAD
git tag -a "v$version" -m "bareline $version"
say "tagged v$version; dist/SHA256SUMS is what an attestation is made of"
say "next: git push --follow-tags"
say "      twine upload dist/bareline*-$version-*.whl dist/bareline*-$version.tar.gz"
