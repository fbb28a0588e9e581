# nix run 'git+file:.?dir=packaging/nix' -- --help, in a checkout
{
  description = "Convert, trim, check and store LLM conversation sessions";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      source = ../..;
      manifest = (builtins.fromTOML (builtins.readFile (source + "/Cargo.toml"))).package;
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "convo";
          version = manifest.version;
          src = source;
          cargoLock.lockFile = source + "/Cargo.lock";
          buildFeatures = [ "sqlite" ];
          # The tests take a quarter of an hour and are those of a checkout.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            installManPage man/*
            installShellCompletion --bash completions/convo.bash
            installShellCompletion --zsh completions/_convo
            installShellCompletion --fish completions/convo.fish
          '';
          meta = {
            description = manifest.description;
            license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.asl20 ];
            mainProgram = "convo";
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.cargo pkgs.rustc pkgs.clippy pkgs.rustfmt ]; };
      });
    };
}
